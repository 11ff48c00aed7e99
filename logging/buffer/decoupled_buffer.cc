#include "logging/buffer/decoupled_buffer.h"

#include <memory>

namespace mneme {

std::unique_ptr<LogBuffer> make_decoupled_buffer(const LogBufferOptions& options) {
  return std::make_unique<DecoupledBuffer>(options);
}

}  // namespace mneme
