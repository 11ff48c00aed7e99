#include "logging/buffer/consolidation_buffer.h"

#include <memory>

namespace mneme {

std::unique_ptr<LogBuffer> make_consolidation_buffer(const LogBufferOptions& options) {
  return std::make_unique<ConsolidationBuffer>(options);
}

}  // namespace mneme
