#include "procedures/native/background_units.h"

#include <stop_token>
#include <utility>

#include "base/deep_stack.h"
#include "procedures/native/emitter.h"

namespace mneme {

BackgroundUnits::BackgroundUnits(const Program& program, const Schema& schema,
                                 std::span<const NativeUnit> units, const NativeFolders& folders) {
  Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
  if (!toolchain) {
    end_with(toolchain.error());
    return;
  }
  std::string text = on_deep_stack([&] { return emit_cpp(program, schema, units); });
  if (std::optional<NativeCode> found = NativeCode::find(text, units.size(), folders, *toolchain)) {
    end_with(*std::move(found));
    return;
  }
  thread_ = std::jthread([this, text = std::move(text), count = units.size(), folders,
                          toolchain = *std::move(toolchain)](const std::stop_token& stop) {
    end_with(NativeCode::load(text, count, folders, toolchain, {}, stop));
  });
}

const CompiledUnits& BackgroundUnits::wait() const {
  has_ended_.wait(false, std::memory_order_acquire);
  return units_;
}

void BackgroundUnits::end_with(Result<NativeCode> code) {
  units_.take(std::move(code));
  has_ended_.store(true, std::memory_order_release);
  has_ended_.notify_all();
}

}  // namespace mneme
