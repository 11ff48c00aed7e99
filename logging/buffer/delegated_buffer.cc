#include "logging/buffer/delegated_buffer.h"

#include <memory>

namespace mneme {

std::unique_ptr<LogBuffer> make_delegated_buffer(const LogBufferOptions& options) {
  return std::make_unique<DelegatedBuffer>(options);
}

}  // namespace mneme
