#include "workloads/ycsb/ycsb_generator.h"

#include <array>

#include "base/check.h"

namespace mneme::ycsb {
namespace {

using Shares = std::array<MixShare, 5>;

constexpr Shares shares(uint32_t read, uint32_t update, uint32_t insert, uint32_t scan, uint32_t modify) {
  return {{{"read_record", read},
           {"update_record", update},
           {"insert_record", insert},
           {"scan_records", scan},
           {"read_modify_write", modify}}};
}

constexpr std::array<Shares, 6> kDefaultMixes = {
    shares(50, 50, 0, 0, 0),  // A, update heavy
    shares(95, 5, 0, 0, 0),   // B, read heavy
    shares(100, 0, 0, 0, 0),  // C, read only
    shares(95, 0, 5, 0, 0),   // D, read latest
    shares(0, 0, 5, 95, 0),   // E, short ranges
    shares(50, 0, 0, 0, 50),  // F, read-modify-write
};

// Prime, and larger than any number of records: multiples of it modulo that number are a permutation.
constexpr uint64_t kScatter = (uint64_t{1} << 61) - 1;

}  // namespace

std::span<const MixShare> default_mix(char core_workload) {
  CHECK(core_workload >= 'A');
  CHECK(core_workload <= 'F');
  return kDefaultMixes[static_cast<size_t>(core_workload - 'A')];
}

Generator::Generator(const Settings& settings, const Zipf& ranks, uint64_t seed, const Mix& mix,
                     const StreamId& stream)
    : settings_(settings),
      ranks_(ranks),
      seed_(seed),
      mix_(mix),
      insert_percent_(mix.percent(static_cast<uint32_t>(Procedure::kInsertRecord))),
      stream_(stream) {
  CHECK(ranks.count() == static_cast<uint64_t>(settings.records));
}

uint64_t Generator::inserts_before(uint64_t position) const {
  return position * insert_percent_ / 100;
}

int64_t Generator::own_key(uint64_t ordinal) const {
  return key_of(
      inserted_record({.incarnation = stream_.incarnation, .worker = stream_.worker, .ordinal = ordinal}));
}

int64_t Generator::choose_key(Random& random, uint64_t inserted) const {
  const uint64_t rank = ranks_.draw(random);
  if (settings_.core_workload == 'D') {
    return rank < inserted ? own_key(inserted - 1 - rank) : key_of(ranks_.count() - 1 - (rank - inserted));
  }
  const auto product = static_cast<unsigned __int128>(rank) * kScatter;
  return key_of(static_cast<uint64_t>(product % ranks_.count()));
}

std::string_view Generator::value(int64_t key, uint32_t field, Random& random) {
  const std::span<char> text(static_cast<char*>(values_.allocate(settings_.field_bytes)),
                             settings_.field_bytes);
  write_value(key, field, static_cast<uint32_t>(random.next()), text);
  return {text.data(), text.size()};
}

const Call& Generator::call(uint64_t position) {
  Random random({seed_, /*purpose=*/0xca11, stream_.worker, stream_.incarnation, position});
  values_.reset();
  const uint64_t inserted = inserts_before(position);
  if (inserts_before(position + 1) > inserted) {
    add_insert(random, inserted);
    return call_.call();
  }

  const auto procedure =
      static_cast<Procedure>(mix_.pick_except(static_cast<uint32_t>(Procedure::kInsertRecord), random));
  const int64_t key = choose_key(random, inserted);
  call_.start(id_of(procedure)).integer(key);
  switch (procedure) {
    case Procedure::kReadRecord:
      call_.results(kFields);
      break;
    case Procedure::kUpdateRecord:
      add_field_and_value(random, key);
      break;
    case Procedure::kScanRecords:
      call_.integer(random.uniform(1, kLongestScan)).results(2);
      break;
    case Procedure::kReadModifyWrite:
      add_field_and_value(random, key);
      call_.results(kFields);
      break;
    case Procedure::kInsertRecord:
      CHECK(!"an insert is not picked");
  }
  return call_.call();
}

void Generator::add_insert(Random& random, uint64_t ordinal) {
  const int64_t key = own_key(ordinal);
  call_.start(id_of(Procedure::kInsertRecord)).integer(key);
  const std::span<Value> fields = call_.array(kFields);
  for (uint32_t field = 0; field < kFields; ++field)
    fields[field] = Value::of_text(value(key, field, random));
}

void Generator::add_field_and_value(Random& random, int64_t key) {
  const auto field = static_cast<uint32_t>(random.uniform(0, kFields - 1));
  call_.integer(field).text(value(key, field, random));
}

}  // namespace mneme::ycsb
