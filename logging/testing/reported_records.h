// For tests: what a killed child reported of its records, held against the log that it left.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "logging/testing/crash_child.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

// Its payload is payload_of(index, payload_bytes_of(index)).
struct ReportedRecord {
  uint64_t index;
  Lsn lsn;
};

// Returns what is wrong with the directory's log, given what the children reported; empty if nothing is.
inline std::string fault(const std::string& directory, const std::vector<ReportedRecord>& reports) {
  const auto log = read_directory(directory);
  if (!log.ok()) return log.error().message;
  for (const ReportedRecord& report : reports) {
    const auto at = std::ranges::lower_bound(log->records, report.lsn, {}, &RecordView::lsn);
    if (at == log->records.end() || at->lsn != report.lsn)
      return fmt::format("no record at {}", report.lsn.value);
    if (!std::ranges::equal(at->payload, payload_of(report.index, payload_bytes_of(report.index)))) {
      return fmt::format("another record at {}", report.lsn.value);
    }
  }
  return "";
}

}  // namespace mneme::test
