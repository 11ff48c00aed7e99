#include "cli/output/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <vector>

#include "base/file/file.h"
#include "cli/output/output.h"
#include "cli/output/page.h"

namespace mneme {
namespace {

// Processes of the trace.
constexpr uint32_t kRecovery = 1;
constexpr uint32_t kBeside = 2;
// Tracks of one: the recovery's stages, then a replay thread each.
constexpr uint32_t kStagesTrack = 0;
uint32_t track_of(uint32_t thread) {
  return thread + 1;
}

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::kLoad:
      return "load";
    case StepKind::kDecode:
      return "decode";
    case StepKind::kFill:
      return "locate";
    case StepKind::kLists:
      return "lists";
    case StepKind::kPieces:
      return "lane";
    case StepKind::kRendezvous:
      return "rendezvous";
    case StepKind::kScheduling:
      return "scheduling";
    case StepKind::kWaiting:
      break;
  }
  return "waiting";
}

bool is_of_a_block(StepKind kind) {
  return kind == StepKind::kFill || kind == StepKind::kLists || kind == StepKind::kPieces ||
         kind == StepKind::kRendezvous;
}

class TraceWriter {
 public:
  TraceWriter(std::FILE* file, const Trace& trace)
      : file_(file),
        trace_(trace),
        report_(trace.report),
        recorder_(trace.recorder),
        us_per_tick_(recorder_.ns_per_tick() / 1000),
        begin_ns_(begin_of(report_)) {}

  void write() {
    std::fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":", file_);
    std::fputs(in_page(trace_.about).c_str(), file_);
    std::fputs(",\"traceEvents\":[", file_);
    write_stages(kRecovery, report_);
    if (trace_.beside != nullptr) write_stages(kBeside, *trace_.beside);
    for (uint32_t t = 0; t < recorder_.thread_count(); ++t) {
      name_track(kRecovery, track_of(t), fmt::format("replay thread {}", t));
      for (const ScheduleStep& step : recorder_.steps(t)) write_step(t, step);
    }
    write_batches();
    std::fputs("\n]}\n", file_);
  }

 private:
  static uint64_t begin_of(const RecoveryReport& report) {
    return report.stages.empty() ? 0 : report.stages.front().begin_ns;
  }

  void write_stages(uint32_t process, const RecoveryReport& report) {
    event({{"name", "process_name"},
           {"ph", "M"},
           {"pid", process},
           {"args",
            {{"name", fmt::format("{}, {} thread{}", report.scheme->name, report.threads,
                                  report.threads == 1 ? "" : "s")}}}});
    name_track(process, kStagesTrack, "recovery");
    const auto us_of = [begin_ns = begin_of(report)](uint64_t ns) {
      return static_cast<double>(ns - begin_ns) / 1000;
    };
    for (const StageTime& stage : report.stages)
      span(process, kStagesTrack, std::string(stage.name), "stage", us_of(stage.begin_ns),
           us_of(stage.end_ns), Json::object());
  }

  double us_of_ns(uint64_t ns) const {
    return (static_cast<double>(ns) - static_cast<double>(begin_ns_)) / 1000;
  }
  double us_of_tick(uint64_t tick) const {
    const auto passed = static_cast<double>(tick) - static_cast<double>(recorder_.scale().first_tick());
    return us_of_ns(recorder_.scale().first_ns()) + passed * us_per_tick_;
  }

  void write_step(uint32_t thread, const ScheduleStep& step) {
    Json arguments = Json::object();
    std::string name(name_of(step.kind));
    if (step.kind == StepKind::kWaiting) {
      arguments["until"] = cause_of(step);
      if (step.other < recorder_.thread_count()) arguments["by"] = step.other;
    } else {
      arguments["batch"] = step.batch;
    }
    if (is_of_a_block(step.kind)) {
      name += " " + short_name(step.block);
      arguments["block"] =
          step.block < report_.analysis.blocks.size() ? report_.analysis.blocks[step.block] : "";
      arguments["pieces"] = step.pieces;
    }
    if (step.kind == StepKind::kPieces) {
      arguments["lane"] = step.lane;
      if (step.other != kNoEntry) arguments["then"] = "came to a piece of several lanes";
    }
    span(kRecovery, track_of(thread), name, name_of(step.kind), us_of_tick(step.begin), us_of_tick(step.end),
         arguments);
  }

  // The Greek letter of the block's label.
  std::string short_name(uint32_t block) const {
    if (block >= report_.analysis.blocks.size()) return fmt::format("block {}", block);
    const std::string& label = report_.analysis.blocks[block];
    return label.substr(0, label.find(':'));
  }

  // The work of the thread that ended the wait, then or just before: a lane's end is reported before it
  // wakes others.
  std::string cause_of(const ScheduleStep& wait) const {
    if (wait.other == kNoEntry || wait.other >= recorder_.thread_count()) return "the end of replay";
    const std::deque<ScheduleStep>& steps = recorder_.steps(wait.other);
    auto found = std::ranges::upper_bound(steps, wait.end, {}, &ScheduleStep::begin);
    while (found != steps.begin() && std::prev(found)->kind == StepKind::kWaiting) --found;
    if (found == steps.begin()) return fmt::format("thread {}", wait.other);
    --found;
    std::string cause = fmt::format("{} of batch {}", name_of(found->kind), found->batch);
    if (is_of_a_block(found->kind)) cause += fmt::format(", block {}", short_name(found->block));
    if (found->kind == StepKind::kPieces) cause += fmt::format(", lane {}", found->lane);
    return fmt::format("{}, by thread {}", cause, wait.other);
  }

  // How many batches are loaded and not retired, each time it changes.
  void write_batches() {
    struct Change {
      uint64_t at;
      int by;
    };
    std::vector<Change> changes;
    const std::span<const uint64_t> retired = recorder_.retired_at();
    for (uint32_t t = 0; t < recorder_.thread_count(); ++t) {
      for (const ScheduleStep& step : recorder_.steps(t)) {
        if (step.kind == StepKind::kLoad && step.batch < retired.size()) changes.push_back({step.end, 1});
      }
    }
    for (const uint64_t at : retired.first(std::min(retired.size(), changes.size())))
      changes.push_back({at, -1});
    std::ranges::sort(changes, {}, &Change::at);
    int in_flight = 0;
    for (const Change& change : changes) {
      in_flight += change.by;
      event({{"name", "batches in the pipeline"},
             {"ph", "C"},
             {"ts", us_of_tick(change.at)},
             {"pid", kRecovery},
             {"args", {{"batches", in_flight}}}});
    }
  }

  void name_track(uint32_t process, uint32_t track, const std::string& name) {
    event(
        {{"name", "thread_name"}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", {{"name", name}}}});
    event({{"name", "thread_sort_index"},
           {"ph", "M"},
           {"pid", process},
           {"tid", track},
           {"args", {{"sort_index", track}}}});
  }
  void span(uint32_t process, uint32_t track, const std::string& name, std::string_view category,
            double begin_us, double end_us, const Json& arguments) {
    event({{"name", name},
           {"cat", category},
           {"ph", "X"},
           {"ts", begin_us},
           {"dur", end_us - begin_us},
           {"pid", process},
           {"tid", track},
           {"args", arguments}});
  }
  void event(const Json& object) {
    std::fputs(is_first_ ? "\n" : ",\n", file_);
    is_first_ = false;
    std::fputs(in_page(object).c_str(), file_);
  }

  std::FILE* const file_;
  const Trace& trace_;
  const RecoveryReport& report_;
  const ScheduleRecorder& recorder_;
  const double us_per_tick_;
  const uint64_t begin_ns_;
  bool is_first_ = true;
};

Result<void> write(const std::string& path, const PageParts& around, const Trace& trace) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "w");
  if (file == nullptr) return file_error("write the trace to", path, errno);
  std::fwrite(around.before.data(), 1, around.before.size(), file);
  TraceWriter(file, trace).write();
  std::fwrite(around.behind.data(), 1, around.behind.size(), file);
  // stdio keeps no errno of an earlier write that failed. The last write fails for the same reason, and sets
  // it.
  std::fflush(file);
  const bool good = std::ferror(file) == 0;
  const int error = errno;
  if (file != stdout) std::fclose(file);
  if (!good) return file_error("write the trace to", path, error);
  return {};
}

}  // namespace

Result<void> write_trace(const std::string& path, const Trace& trace) {
  return write(path, {}, trace);
}

Result<void> write_trace_page(const std::string& path, const Trace& trace) {
  return write(path, parts_of(kReplayPage), trace);
}

}  // namespace mneme
