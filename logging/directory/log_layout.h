// LogLayout: how a data directory's log lies in its files. Chosen once, at the database's birth, and kept in
// the manifest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mneme {

enum class LogLayout : uint8_t {
  kStream,       // one stream of records; an LSN is a position in it (durable_log.h, nvm_log.h)
  kEpoch,        // a stream a logger; an LSN is an epoch and a place in it (epoch_log.h)
  kDistributed,  // a stream a socket; an LSN is a number in the commit sequence (distributed_log.h)
};

constexpr std::string_view name_of(LogLayout layout) {
  constexpr std::string_view kNames[] = {"stream", "epoch", "distributed"};
  return kNames[static_cast<size_t>(layout)];
}
// Returns nullopt if no layout has that name.
constexpr std::optional<LogLayout> log_layout(std::string_view name) {
  for (const LogLayout each : {LogLayout::kStream, LogLayout::kEpoch, LogLayout::kDistributed}) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

}  // namespace mneme
