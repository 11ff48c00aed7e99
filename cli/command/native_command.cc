// mneme native: compiles workloads' procedures, and the slices that their logs are replayed by, into a
// folder: the build does it for the one beside the program, in which every other command looks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "cli/command/commands.h"
#include "cli/option/execution_option.h"
#include "cli/option/option_table.h"
#include "procedures/native/native_toolchain.h"
#include "recovery/calls/slice_units.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

using std::filesystem::perms;
constexpr perms kReadable = perms::owner_read | perms::owner_write | perms::group_read | perms::others_read;
constexpr perms kSearchable = perms::owner_exec | perms::group_exec | perms::others_exec;

struct NativeCommand {
  std::vector<std::string> workloads;
  std::string into;
  bool precompile = false;

  Result<void> run() const {
    if (precompile) {
      const Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
      if (!toolchain) return toolchain.error();
      RETURN_IF_ERROR(toolchain->precompile());
      remove_others_beside(toolchain->precompiled);
    }
    std::vector<Object> objects;
    for (const std::string& name : workloads) {
      objects.push_back({name, std::nullopt});
      for (const AnalysisOptions& options : {AnalysisOptions(), AnalysisOptions::for_ad_hoc()})
        objects.push_back({name, options});
    }
    std::set<std::string> kept;
    for (const Result<std::string>& file_name : make_all(objects)) {
      if (!file_name) return file_name.error();
      kept.insert(*file_name);
    }
    remove_others(kept);
    return {};
  }

 private:
  // A workload's procedures, or the slices of one analysis of them.
  struct Object {
    std::string workload;
    std::optional<AnalysisOptions> slices;
  };

  // Makes as many objects at a time as there are processors. Returns each one's file name, less its
  // extension.
  std::vector<Result<std::string>> make_all(const std::vector<Object>& objects) const {
    std::vector<Result<std::string>> made(objects.size(), std::string());
    std::atomic<size_t> next{0};
    std::vector<std::jthread> makers;
    const size_t processors = std::max(1u, std::thread::hardware_concurrency());
    while (makers.size() < std::min(processors, objects.size())) {
      makers.emplace_back([&] {
        for (size_t i = next++; i < objects.size(); i = next++) made[i] = make(objects[i]);
      });
    }
    makers.clear();  // waits for them
    return made;
  }

  Result<std::string> make(const Object& object) const {
    const Result<std::unique_ptr<Workload>> workload = make_workload(object.workload, {});
    if (!workload) return workload.error();
    const Result<std::unique_ptr<Program>> compiled = compile((*workload)->sql(), object.workload + ".sql");
    if (!compiled) return compiled.error();
    const Program& program = **compiled;
    const Schema schema(program.catalog);
    if (!object.slices) return keep(program, schema, procedure_units(program), object.workload);
    const DependencyGraph graph = analyze(program, *object.slices);
    return keep(program, schema, SliceUnits(graph).units(), object.workload + "'s slices");
  }

  Result<std::string> keep(const Program& program, const Schema& schema, std::span<const NativeUnit> units,
                           const std::string& what) const {
    const CompiledUnits code = CompiledUnits::load(program, schema, units, {into, {}});
    if (code.execution() != Execution::kNative) return failed("{}: {}", what, code.notices().front());
    // Machine code holds no rows: every user who may run the program may read it.
    for (const char* extension : {".so", ".cc"})
      std::filesystem::permissions(into + "/" + code.file_name() + extension, kReadable);
    std::filesystem::permissions(into, kReadable | kSearchable);
    return code.file_name();
  }

  // The precompiled headers of earlier builds.
  static void remove_others_beside(const std::filesystem::path& precompiled) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(precompiled.parent_path(), ignored)) {
      if (entry.path() != precompiled) std::filesystem::remove_all(entry.path(), ignored);
    }
  }

  // Objects of earlier builds, which nothing would look for any more.
  void remove_others(const std::set<std::string>& kept) const {
    for (const auto& entry : std::filesystem::directory_iterator(into)) {
      const std::string extension = entry.path().extension().string();
      if ((extension == ".so" || extension == ".cc") && !kept.contains(entry.path().stem().string())) {
        std::error_code ignored;
        std::filesystem::remove(entry.path(), ignored);
      }
    }
  }
};

}  // namespace

void add_native_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<NativeCommand>();
  CLI::App* app =
      program.add_subcommand("native", "compile workloads' procedures into a folder (used by the build)");
  const OptionTaker take(*app);
  take("workloads", command->workloads);
  take("--into", command->into);
  take("--precompile", command->precompile);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

}  // namespace mneme
