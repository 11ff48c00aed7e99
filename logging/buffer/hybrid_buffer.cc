#include "logging/buffer/hybrid_buffer.h"

#include <memory>

namespace mneme {

std::unique_ptr<LogBuffer> make_hybrid_buffer(const LogBufferOptions& options) {
  return std::make_unique<HybridBuffer>(options);
}

}  // namespace mneme
