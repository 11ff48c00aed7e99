// mneme slice: how procedures come apart for parallel replay: slices, local graphs, blocks and why they are
// ordered.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "analyzer/render.h"
#include "cli/command/commands.h"
#include "cli/option/analysis_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/output.h"
#include "cli/output/page.h"
#include "cli/output/provenance.h"
#include "procedures/binder/program.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

struct SliceCommand {
  std::string source;
  bool dot = false;
  std::string svg;
  std::string html;
  AnalysisOption analysis;
  Output output;

  Result<void> run() const {
    const Provenance provenance;
    const Result<std::unique_ptr<Program>> program = load();
    if (!program) return program.error();
    const Result<AnalysisOptions> options = analysis.get();
    if (!options) return options.error();
    if (!html.empty()) RETURN_IF_ERROR(write_html(**program));
    const DependencyGraph graph = analyze(**program, *options);
    if (!svg.empty()) {
      const std::string drawing = render_svg(**program, graph, fmt::format("Blocks of {}", name()));
      RETURN_IF_ERROR(write_user_file("the drawing", svg, drawing));
    }
    output.text(dot ? render_dot(**program, graph) : render_text(**program, graph));
    Json object = {{"command", "slice"}};
    add_analysis(object, *options);
    object.update(render_json(**program, graph));
    provenance.add_to(object);
    return output.json(object);
  }

 private:
  // With both kinds of conflicts, so that the page shows what the finer one buys.
  Result<void> write_html(const Program& procedures) const {
    Json page = {{"name", name()},
                 {"source", procedures.source.text()},
                 {"view", analysis.conflicts},
                 {"views", Json::object()}};
    for (const char* conflicts : {"column", "table"}) {
      AnalysisOption with = analysis;
      with.conflicts = conflicts;
      const Result<AnalysisOptions> options = with.get();
      if (!options) return options.error();
      page["views"][conflicts] = render_json(procedures, analyze(procedures, *options));
    }
    return write_page(kSlicePage, page, html);
  }

  std::string name() const { return std::filesystem::path(source).filename().string(); }

  // A file's program, or a workload's.
  Result<std::unique_ptr<Program>> load() const {
    if (!std::filesystem::exists(source)) {
      const Result<std::unique_ptr<Workload>> workload = make_workload(source, {});
      if (!workload) {
        return invalid_argument(
            "there is no file {}, and no workload of that name; `mneme slice --help` says more", source);
      }
      return compile((*workload)->sql(), source + ".sql");
    }
    std::ifstream file(source);
    std::stringstream text;
    text << file.rdbuf();
    if (!file || std::filesystem::is_directory(source))
      return failed("cannot read {}: check that it is a file and that you may read it", source);
    return compile(text.str(), source);
  }
};

}  // namespace

void add_slice_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<SliceCommand>();
  CLI::App* app = program.add_subcommand("slice", "slices, local and global dependency graphs of procedures");
  const OptionTaker take(*app);
  take("source", command->source);
  take("--dot", command->dot);
  take("--svg", command->svg);
  take("--html", command->html);
  command->analysis.add_options(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

}  // namespace mneme
