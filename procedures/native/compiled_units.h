// CompiledUnits: units of a program as machine code where that can be had, and the reason where it cannot.
//
// Flow        load(): emitter.h -> native_code.h. The caller that runs a unit asks functions(): empty means
//             that the interpreter runs all of them.
// Errors      none: machine code is never needed. What the user should know stands in notices().
// Threads     constant once made.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/schema/schema.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call_hints.h"
#include "procedures/native/native_code.h"
#include "procedures/native/native_toolchain.h"

namespace mneme {

enum class Execution : uint8_t { kNative, kInterpreted };
// "native", "interpreted"; an error lists them.
Result<Execution> execution(std::string_view name);
std::string_view name_of(Execution execution);

class BackgroundUnits;

class CompiledUnits {
 public:
  // Interprets.
  CompiledUnits() = default;

  // `compiling`, where given, is called with the number of units that are about to be compiled.
  static CompiledUnits load(const Program& program, const Schema& schema, std::span<const NativeUnit> units,
                            const NativeFolders& folders,
                            const std::function<void(size_t units)>& compiling = {});

  Execution execution() const { return code_ ? Execution::kNative : Execution::kInterpreted; }
  // By unit; empty if they are interpreted.
  std::span<const NativeFunctions> functions() const {
    return code_ ? code_->units() : std::span<const NativeFunctions>();
  }
  bool was_compiled() const { return code_ && code_->was_compiled(); }
  // The name of the object's file, less its extension, in whichever folder. Must be native.
  std::string file_name() const { return code_->file_name(); }
  // Sentences for the user.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  friend class BackgroundUnits;

  void take(Result<NativeCode> code);
  void interpret(const Error& reason);

  std::optional<NativeCode> code_;
  std::vector<std::string> notices_;
};

// The program's procedures, whole, by ProcedureId.
// `told`: by ProcedureId, those that tell keys run these bodies; empty: none does. It outlives the units.
std::vector<NativeUnit> procedure_units(const Program& program, std::span<const ToldProcedure> told = {});

}  // namespace mneme
