#include "logging/reading/window_scan.h"

#include <algorithm>

namespace mneme {

// Cuts the run into windows.
WindowScan::Run WindowScan::scan_run(size_t number, StreamPosition begin, ByteSpan bytes,
                                     const RecordLayout& layout) const {
  Run run{.begin = begin, .end = begin + bytes.size(), .walk = {}, .windows = {}};
  StreamPosition next = begin;
  run.walk = walk_records(begin, bytes, layout, [&](const RecordHeader& header, ByteSpan) {
    const StreamPosition from = next;
    next = from + layout.stream_bytes(header.record_bytes);
    const bool is_skip = header.kind == RecordKind::kSkip;
    const bool is_of_schema = header.kind == RecordKind::kSchema;
    run.skips += is_skip ? 1 : 0;
    if (header.lsn < options_.from) return;
    const bool is_full = run.windows.empty() || run.windows.back().is_of_schema || is_of_schema ||
                         from.value - run.windows.back().parts[0].begin.value >= options_.window_bytes;
    if (is_full) run.windows.push_back({.parts = {{number, from, from}}, .is_of_schema = is_of_schema});
    LogContents::Window& window = run.windows.back();
    window.parts[0].end = next;
    window.records += is_skip ? 0 : 1;
    window.has_rows |= header.kind == RecordKind::kLogical || header.kind == RecordKind::kPhysical;
  });
  return run;
}

void WindowScan::scan(size_t number, LoadedSegment& segment) {
  std::vector<Run>& runs = runs_[number];
  size_t bytes_before = 0;
  for (size_t b = 0; b < segment.blocks.size();) {
    const StreamPosition begin = segment.blocks[b].begin;
    StreamPosition end = begin;
    for (; b < segment.blocks.size() && segment.blocks[b].begin == end; ++b) end = segment.blocks[b].end();
    const size_t size = end.value - begin.value;
    runs.push_back(
        scan_run(number, begin, ByteSpan(segment.bytes).subspan(bytes_before, size), segment.layout));
    bytes_before += size;
  }
  segment.bytes = std::vector<std::byte>();  // with its memory
  std::ranges::sort(runs, {}, &Run::begin);
}

// Appends what one run holds to the last window, while that has room.
void WindowScan::add(LogContents::Window&& window, std::vector<LogContents::Window>& windows) const {
  const auto bytes_of = [](const LogContents::Window& of) {
    uint64_t bytes = 0;
    for (const LogContents::Window::Part& part : of.parts) bytes += part.end.value - part.begin.value;
    return bytes;
  };
  const bool stands_alone = windows.empty() || windows.back().is_of_schema || window.is_of_schema;
  if (stands_alone || bytes_of(windows.back()) + bytes_of(window) > options_.window_bytes) {
    windows.push_back(std::move(window));
    return;
  }
  LogContents::Window& last = windows.back();
  last.parts.push_back(window.parts[0]);
  last.records += window.records;
  last.has_rows |= window.has_rows;
}

std::optional<RecordWalk> WindowScan::collect(StreamPosition begin, LogContents& log) {
  RecordWalk last{.end = begin, .is_whole = true, .next = {}};
  for (const LogContents::Run& run : log.runs) {
    std::vector<Run>& runs = runs_[run.segment];
    const auto found = std::ranges::lower_bound(runs, run.begin, {}, &Run::begin);
    if (found == runs.end() || found->begin != run.begin || found->end != run.end) return std::nullopt;
    for (LogContents::Window& window : found->windows) {
      if (window.records > 0) add(std::move(window), log.windows);
    }
    log.skips += found->skips;
    last = found->walk;
    if (!last.is_whole) break;
  }
  return last;
}

}  // namespace mneme
