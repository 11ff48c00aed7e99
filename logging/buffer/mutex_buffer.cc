#include "logging/buffer/mutex_buffer.h"

#include <memory>

namespace mneme {

std::unique_ptr<LogBuffer> make_mutex_buffer(const LogBufferOptions& options) {
  return std::make_unique<MutexBuffer>(options);
}

}  // namespace mneme
