#include "procedures/native/compiled_units.h"

#include "base/deep_stack.h"
#include "procedures/native/emitter.h"

namespace mneme {

Result<Execution> execution(std::string_view name) {
  if (name == "native") return Execution::kNative;
  if (name == "interpreted") return Execution::kInterpreted;
  return invalid_argument("--execution {}: there are native and interpreted", name);
}

std::string_view name_of(Execution execution) {
  return execution == Execution::kNative ? "native" : "interpreted";
}

CompiledUnits CompiledUnits::load(const Program& program, const Schema& schema,
                                  std::span<const NativeUnit> units, const NativeFolders& folders,
                                  const std::function<void(size_t units)>& compiling) {
  CompiledUnits loaded;
  const Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
  if (!toolchain) {
    loaded.interpret(toolchain.error());
    return loaded;
  }
  loaded.take(NativeCode::load(on_deep_stack([&] { return emit_cpp(program, schema, units); }), units.size(),
                               folders, *toolchain, [&] {
                                 if (compiling) compiling(units.size());
                               }));
  return loaded;
}

void CompiledUnits::take(Result<NativeCode> code) {
  if (!code) {
    interpret(code.error());
    return;
  }
  for (const std::string& notice : code->notices()) {
    notices_.push_back(fmt::format("procedures were compiled anew: {}", notice));
  }
  code_ = *std::move(code);
}

void CompiledUnits::interpret(const Error& reason) {
  notices_.push_back(fmt::format("procedures are interpreted: {}", reason.message));
}

std::vector<NativeUnit> procedure_units(const Program& program, std::span<const ToldProcedure> told) {
  std::vector<NativeUnit> units;
  for (const ir::Procedure& procedure : program.procedures) {
    NativeUnit& unit = units.emplace_back(NativeUnit{procedure.name, &procedure, procedure.body});
    if (told.empty() || !told[procedure.id.value].has_hints()) continue;
    unit.body = told[procedure.id.value].body;
    unit.tells_keys = true;
  }
  return units;
}

}  // namespace mneme
