// mneme compare: two results, or folders of results: what differs, by how much, and is it more than chance?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/command/commands.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/output/comparison_text.h"
#include "cli/output/output.h"
#include "measurement/comparison/compare.h"

namespace mneme {
namespace {

struct CompareCommand {
  std::string first;
  std::string second;
  Output output;

  Result<void> run() const {
    const Result<std::vector<ResultFields>> before = read_results(first);
    if (!before) return before.error();
    const Result<std::vector<ResultFields>> after = read_results(second);
    if (!after) return after.error();
    const Result<ResultComparison> comparison = compare_results(*before, *after);
    if (!comparison) return comparison.error();
    if (!comparison->can_judge) {
      output.notice(
          "there are too few results for any difference to be more than chance: take at least five a side, "
          "better twenty");
    }
    output.text(comparison_text(*comparison));
    RETURN_IF_ERROR(output.json(json_of(*comparison)));
    const std::vector<std::string> losses = comparison->losses();
    if (losses.empty()) return {};
    return failed("{} is worse than {}, by more than chance: {}", second, first, fmt::join(losses, ", "));
  }
};

}  // namespace

void add_compare_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<CompareCommand>();
  CLI::App* app = program.add_subcommand(
      "compare", "two results, or folders of results: differences, intervals, significance");
  const OptionTaker take(*app);
  take("first", command->first);
  take("second", command->second);
  add_output_options(*app, command->output);
  app->callback([&chosen, command] { chosen = [command] { return command->run(); }; });
}

}  // namespace mneme
