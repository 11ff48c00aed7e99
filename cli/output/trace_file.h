// Trace file: a recovery's timeline, for chrome://tracing or https://ui.perfetto.dev: its stages, what each
// replay thread did and for what it waited, and how many batches were under way.
//
// Format      Chrome's trace events, the JSON object form; times in microseconds since the recovery began.
//             "otherData" says of what, on what machine and when the trace is. A recovery to compare with is
//             a process of its own, whose time begins with it.
// Lanes       of replay by CLR-P a span is a batch decoded, a block's batch located or put into lists, a
//             visit of a lane, or a wait; a wait says which step of which thread ended it. The other schemes
//             have their stages alone.
// Errors      a file that can't be written: kFailed.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/output/output.h"
#include "recovery/calls/schedule_recorder.h"
#include "recovery/database/recover.h"

namespace mneme {

// Steps of a thread beyond this many are left out of a trace: viewers take some hundred thousand.
inline constexpr size_t kMostTracedSteps = 200'000;

struct Trace {
  const RecoveryReport& report;
  const ScheduleRecorder& recorder;
  Json about;                              // "otherData": workload, scheme, machine, date
  const RecoveryReport* beside = nullptr;  // of the same log by another scheme; its stages are drawn, too
};

Result<void> write_trace(const std::string& path, const Trace& trace);
// The same within a page that shows it in a browser (cli/output/pages/replay.html).
Result<void> write_trace_page(const std::string& path, const Trace& trace);

}  // namespace mneme
