// A log's records told by numbers, so that two logs can be held against one another without keeping either.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "logging/reading/log_reader.h"

namespace mneme::simulator {

// After each record, in order, a hash of all up to it: FNV-1a. Skips are left out.
inline std::vector<uint64_t> hashes_of(const LogContents& log) {
  std::vector<uint64_t> hashes;
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](ByteSpan bytes) {
    for (const std::byte each : bytes) hash = (hash ^ static_cast<uint64_t>(each)) * 0x100000001b3;
  };
  for (const RecordView& record : log.records) {
    if (record.kind == RecordKind::kSkip) continue;
    add(std::as_bytes(std::span(&record.lsn.value, 1)));
    add(record.payload);
    hashes.push_back(hash);
  }
  return hashes;
}

}  // namespace mneme::simulator
