#include "workloads/tatp/tatp.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "workloads/shared/embedded_sql.h"
#include "workloads/shared/random_values.h"
#include "workloads/shared/row_builder.h"
#include "workloads/tatp/tatp_checks.h"
#include "workloads/tatp/tatp_generator.h"

namespace mneme::tatp {
namespace {

constexpr int64_t kPartSubscribers = 5'000;
constexpr int kActivePercent = 85;
constexpr int64_t kMostHours = 8;

// The first `count` of `choices`, after some shuffling: any subset of that size is as likely as any other.
template <size_t size>
std::span<const int64_t> some_of(std::array<int64_t, size>& choices, int64_t count, Random& random) {
  for (int64_t i = 0; i < count; ++i) {
    std::swap(choices[static_cast<size_t>(i)], choices[static_cast<size_t>(random.uniform(i, size - 1))]);
  }
  return {choices.data(), static_cast<size_t>(count)};
}

void add_subscriber(int64_t subscriber, Random& random, RowBuilder& row, RowSink sink) {
  row.start().integer(subscriber).text(subscriber_number(subscriber));
  for (const int64_t highest : {int64_t{1}, int64_t{15}, kHighestByte}) {
    for (int i = 0; i < 10; ++i) row.integer(random.uniform(0, highest));
  }
  row.integer(random.uniform(1, kHighestLocation)).integer(random.uniform(1, kHighestLocation));
  sink(id_of(Table::kSubscriber), row.row());
}

void add_access_infos(int64_t subscriber, Random& random, RowBuilder& row, Arena& scratch, RowSink sink) {
  std::array<int64_t, kTypes> types = {1, 2, 3, 4};
  for (const int64_t type : some_of(types, random.uniform(1, kTypes), random)) {
    row.start().integer(subscriber).integer(type);
    row.integer(random.uniform(0, kHighestByte)).integer(random.uniform(0, kHighestByte));
    row.text(letters(random, 3, scratch)).text(letters(random, 5, scratch));
    sink(id_of(Table::kAccessInfo), row.row());
  }
}

void add_call_forwarding(int64_t subscriber, int64_t type, Random& random, RowBuilder& row, Arena& scratch,
                         RowSink sink) {
  std::array<int64_t, 3> start_times = {0, kStartTimeStep, kLastStartTime};
  for (const int64_t start : some_of(start_times, random.uniform(0, 3), random)) {
    row.start().integer(subscriber).integer(type).integer(start);
    row.integer(start + random.uniform(1, kMostHours)).text(digits(random, kNumberDigits, scratch));
    sink(id_of(Table::kCallForwarding), row.row());
  }
}

void add_special_facilities(int64_t subscriber, Random& random, RowBuilder& row, Arena& scratch,
                            RowSink sink) {
  std::array<int64_t, kTypes> types = {1, 2, 3, 4};
  for (const int64_t type : some_of(types, random.uniform(1, kTypes), random)) {
    row.start().integer(subscriber).integer(type).integer(random.chance(kActivePercent) ? 1 : 0);
    row.integer(random.uniform(0, kHighestByte)).integer(random.uniform(0, kHighestByte));
    row.text(letters(random, 5, scratch));
    sink(id_of(Table::kSpecialFacility), row.row());
    add_call_forwarding(subscriber, type, random, row, scratch, sink);
  }
}

}  // namespace

Result<std::unique_ptr<Workload>> Tatp::make(int64_t subscribers, uint64_t seed, std::string_view mix) {
  Result<Mix> parsed = Mix::parse(mix, default_mix());
  if (!parsed.ok()) return parsed.error();
  return std::unique_ptr<Workload>(new Tatp(subscribers, seed, *parsed));
}

Tatp::Tatp(int64_t subscribers, uint64_t seed, Mix mix)
    : subscribers_(subscribers), seed_(seed), mix_(std::move(mix)) {}

std::string_view Tatp::sql() const {
  return embedded_sql("tatp");
}

uint32_t Tatp::part_count() const {
  return static_cast<uint32_t>((subscribers_ + kPartSubscribers - 1) / kPartSubscribers);
}

void Tatp::populate(uint32_t part, RowSink sink) const {
  Random random({seed_, /*purpose=*/0x10ad, part});
  RowBuilder row;
  Arena scratch;
  const int64_t first = int64_t{part} * kPartSubscribers + 1;
  const int64_t last = std::min(first + kPartSubscribers - 1, subscribers_);
  for (int64_t subscriber = first; subscriber <= last; ++subscriber) {
    scratch.reset();
    add_subscriber(subscriber, random, row, sink);
    add_access_infos(subscriber, random, row, scratch, sink);
    add_special_facilities(subscriber, random, row, scratch, sink);
  }
}

std::unique_ptr<CallGenerator> Tatp::generator(const StreamId& stream) const {
  return std::make_unique<Generator>(subscribers_, seed_, mix_, stream);
}

std::vector<MixShare> Tatp::mix() const {
  return mix_.applied_to(default_mix());
}

// The successes follow from the population: 62.5% of the four types of access info and of special facility
// are there, of a facility's three start times half, and 85% of the facilities are active. Over all start
// times and end times that a call may ask for, and all sets of rules that an active facility may have, 27.84%
// of the calls are forwarded. NURand joins two numbers by OR: so three of four results are odd, and their
// successors even.
BookRules Tatp::book_rules() const {
  return {.source = "TATP, description 1.0",
          .mix = {default_mix().begin(), default_mix().end()},
          .successes = {{"get_subscriber_data", 100},
                        {"get_new_destination", 14.79},
                        {"get_access_data", 62.5},
                        {"update_subscriber_data", 62.5},
                        {"update_location", 100},
                        {"insert_call_forwarding", 31.25},
                        {"delete_call_forwarding", 31.25}},
          .choices = {{.name = "subscribers with an even number, by NURand",
                       .percent = 75,
                       .has = [](const Call& call) -> std::optional<bool> {
                         // The other procedures name the subscriber by its digits.
                         if (call.procedure != id_of(Procedure::kGetSubscriberData)) return std::nullopt;
                         return call.arguments[0].scalar.as_int() % 2 == 0;
                       }}}};
}

int128 Tatp::conserved_delta(const Call& call, std::span<const Argument>) const {
  switch (static_cast<Procedure>(call.procedure.value)) {
    case Procedure::kInsertCallForwarding:
      return 1;
    case Procedure::kDeleteCallForwarding:
      return -1;
    case Procedure::kGetSubscriberData:
    case Procedure::kGetNewDestination:
    case Procedure::kGetAccessData:
    case Procedure::kUpdateSubscriberData:
    case Procedure::kUpdateLocation:
      return 0;
  }
  CHECK(!"a procedure that tatp.sql does not declare");
  return 0;
}

std::vector<Check> Tatp::check(const RowSource& rows, std::optional<int128> conserved) const {
  return check_register(rows, *this, subscribers_, conserved);
}

}  // namespace mneme::tatp
