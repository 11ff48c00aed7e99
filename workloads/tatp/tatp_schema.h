// The tables and procedures of tatp.sql by number, how large a database is, and what numbers subscribers
// have.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme::tatp {

// In the order of tatp.sql.
enum class Table : uint32_t { kSubscriber, kAccessInfo, kSpecialFacility, kCallForwarding };
enum class Procedure : uint32_t {
  kGetSubscriberData,
  kGetNewDestination,
  kGetAccessData,
  kUpdateSubscriberData,
  kUpdateLocation,
  kInsertCallForwarding,
  kDeleteCallForwarding,
};

constexpr TableId id_of(Table table) {
  return TableId(static_cast<uint32_t>(table));
}
constexpr ProcedureId id_of(Procedure procedure) {
  return ProcedureId(static_cast<uint32_t>(procedure));
}

// The smallest of the benchmark's populations; a database has a multiple of it.
inline constexpr int64_t kSubscribersPerScale = 100'000;

inline constexpr int64_t kHighestByte = 255;
inline constexpr int64_t kHighestLocation = (int64_t{1} << 32) - 1;
inline constexpr size_t kNumberDigits = 15;
// Access infos and special facilities are of type 1 to this.
inline constexpr int64_t kTypes = 4;
// A rule of call forwarding starts at hour 0, 8 or 16, and lasts for 1 to 8 hours in the population; one that
// a call inserts ends at any hour.
inline constexpr int64_t kStartTimeStep = 8;
inline constexpr int64_t kLastStartTime = 16;
inline constexpr int64_t kLastEndTime = 24;

// Subscribers are numbered from 1.
inline std::string subscriber_number(int64_t subscriber) {
  return fmt::format("{:0{}}", subscriber, kNumberDigits);
}

}  // namespace mneme::tatp
