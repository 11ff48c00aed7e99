#include "workloads/tatp/tatp_checks.h"

#include <algorithm>

#include "workloads/shared/consistency.h"
#include "workloads/tatp/tatp_schema.h"

namespace mneme::tatp {
namespace {

// One subscriber's rows, types as bits.
struct Has {
  bool subscriber = false;
  uint8_t access_infos = 0;
  uint8_t facilities = 0;
  bool operator==(const Has&) const = default;
};

struct Register {
  explicit Register(int64_t subscribers) : of_subscriber(static_cast<size_t>(subscribers)) {}

  // Null where there is no such subscriber.
  Has* find(int64_t subscriber) {
    const bool known = subscriber >= 1 && subscriber <= static_cast<int64_t>(of_subscriber.size());
    return known ? &of_subscriber[static_cast<size_t>(subscriber - 1)] : nullptr;
  }

  std::vector<Has> of_subscriber;
  int64_t rules = 0;
};

bool is_type(int64_t type) {
  return type >= 1 && type <= kTypes;
}

// Notes that the subscriber has this type; false where it has it already, or there is no such type or
// subscriber.
bool note(Has* has, uint8_t Has::*types, int64_t type) {
  if (has == nullptr || !is_type(type)) return false;
  const auto bit = static_cast<uint8_t>(1 << type);
  const bool is_new = (has->*types & bit) == 0;
  has->*types = static_cast<uint8_t>(has->*types | bit);
  return is_new;
}

Register population_of(const Workload& workload, int64_t subscribers) {
  Register found(subscribers);
  for (uint32_t part = 0; part < workload.part_count(); ++part) {
    workload.populate(part, [&](TableId table, std::span<const Value> row) {
      Has* has = found.find(row[0].as_int());
      switch (static_cast<Table>(table.value)) {
        case Table::kSubscriber:
          has->subscriber = true;
          break;
        case Table::kAccessInfo:
          note(has, &Has::access_infos, row[1].as_int());
          break;
        case Table::kSpecialFacility:
          note(has, &Has::facilities, row[1].as_int());
          break;
        case Table::kCallForwarding:
          ++found.rules;
          break;
      }
    });
  }
  return found;
}

void check_subscribers(const RowSource& rows, Register& found, std::vector<Check>& checks) {
  Condition numbers("sub_nbr: a subscriber's number is its id in 15 digits");
  Condition values("values: bits, hexadecimal digits, bytes and locations are within their bounds");
  rows.scan(id_of(Table::kSubscriber), [&](std::span<const Value> row) {
    const int64_t id = row[0].as_int();
    if (Has* has = found.find(id)) has->subscriber = true;
    numbers.holds(row[1].as_text() == subscriber_number(id), "subscriber {} has {}", id, row[1].as_text());
    const auto all_within = [&](size_t first, size_t count, int64_t low, int64_t high) {
      return std::ranges::all_of(row.subspan(first, count), [&](const Value& value) {
        return value.as_int() >= low && value.as_int() <= high;
      });
    };
    values.holds(all_within(2, 10, 0, 1) && all_within(12, 10, 0, 15) &&
                     all_within(22, 10, 0, kHighestByte) && all_within(32, 2, 1, kHighestLocation),
                 "subscriber {}", id);
  });
  checks.push_back(numbers.result());
  checks.push_back(values.result());
}

void check_types(const RowSource& rows, Register& found, std::vector<Check>& checks) {
  Condition owned(
      "types: an access info or special facility is a subscriber's only one of a type from 1 to 4");
  scan_columns(rows, "access_info", {"s_id", "ai_type"}, [&](std::span<const Value> row) {
    owned.holds(note(found.find(row[0].as_int()), &Has::access_infos, row[1].as_int()),
                "access info of subscriber {}, type {}", row[0].as_int(), row[1].as_int());
  });
  scan_columns(rows, "special_facility", {"s_id", "sf_type", "is_active"}, [&](std::span<const Value> row) {
    const bool is_flag = row[2].as_int() == 0 || row[2].as_int() == 1;
    owned.holds(note(found.find(row[0].as_int()), &Has::facilities, row[1].as_int()) && is_flag,
                "special facility of subscriber {}, type {}, active: {}", row[0].as_int(), row[1].as_int(),
                row[2].as_int());
  });
  checks.push_back(owned.result());
}

void check_population(const Register& found, const Register& population, std::vector<Check>& checks) {
  Condition complete("population: every subscriber is there, with the types that it had at first");
  for (size_t i = 0; i < population.of_subscriber.size(); ++i) {
    const Has& has = found.of_subscriber[i];
    const Has& had = population.of_subscriber[i];
    complete.holds(
        has == had,
        "subscriber {}: {}there, access infos {:#b}, special facilities {:#b}; at first {:#b}, {:#b}", i + 1,
        has.subscriber ? "" : "not ", has.access_infos, has.facilities, had.access_infos, had.facilities);
  }
  checks.push_back(complete.result());
}

void check_rules(const RowSource& rows, Register& found, std::vector<Check>& checks) {
  Condition owned("call_forwarding: every rule belongs to a special facility");
  Condition times("times: every rule starts at 0, 8 or 16 and ends at an hour from 1 to 24");
  const auto visit = [&](std::span<const Value> row) {
    const int64_t id = row[0].as_int(), type = row[1].as_int(), start = row[2].as_int(),
                  end = row[3].as_int();
    const Has* has = found.find(id);
    owned.holds(has != nullptr && is_type(type) && (has->facilities >> type & 1) != 0,
                "a rule of subscriber {}, type {}", id, type);
    times.holds(start >= 0 && start <= kLastStartTime && start % kStartTimeStep == 0 && end >= 1 &&
                    end <= kLastEndTime,
                "a rule of subscriber {}, type {}, from {} to {}", id, type, start, end);
    ++found.rules;
  };
  scan_columns(rows, "call_forwarding", {"s_id", "sf_type", "start_time", "end_time"}, visit);
  checks.push_back(owned.result());
  checks.push_back(times.result());
}

}  // namespace

std::vector<Check> check_register(const RowSource& rows, const Workload& population, int64_t subscribers,
                                  std::optional<int128> conserved) {
  const Register at_first = population_of(population, subscribers);
  Register found(subscribers);
  std::vector<Check> checks;
  check_subscribers(rows, found, checks);
  check_types(rows, found, checks);
  check_population(found, at_first, checks);
  check_rules(rows, found, checks);
  if (conserved.has_value()) {
    const auto expected = at_first.rules + static_cast<int64_t>(*conserved);
    Condition count("rules: there are as many as the population's and what committed calls have added");
    count.holds(found.rules == expected, "{} are there, {} should be", found.rules, expected);
    checks.push_back(count.result());
  }
  return checks;
}

}  // namespace mneme::tatp
