#include "workloads/ycsb/ycsb.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "workloads/shared/embedded_sql.h"
#include "workloads/shared/row_builder.h"
#include "workloads/shared/zipf.h"
#include "workloads/ycsb/ycsb_checks.h"

namespace mneme::ycsb {
namespace {

constexpr int64_t kPartRecords = 5'000;
constexpr std::string_view kFieldType = "VARCHAR(100)";

std::string sql_for(uint32_t field_bytes) {
  const std::string wanted = fmt::format("VARCHAR({})", field_bytes);
  std::string text(embedded_sql("ycsb"));
  size_t replaced = 0;
  for (size_t at = text.find(kFieldType); at != std::string::npos;
       at = text.find(kFieldType, at + wanted.size())) {
    text.replace(at, kFieldType.size(), wanted);
    ++replaced;
  }
  CHECK(replaced >= kFields);
  return text;
}

}  // namespace

Result<std::unique_ptr<Workload>> Ycsb::make(const Options& options, const SharedWorkloadOptions& shared) {
  if (options.core_workload.size() != 1) {
    return invalid_argument("YCSB has no core workload {}; there are A, B, C, D, E, F",
                            options.core_workload);
  }
  Settings settings;
  settings.core_workload = options.core_workload[0];
  settings.records = shared.scale * kRecordsPerScale;
  settings.field_bytes = options.field_bytes;
  settings.skew = shared.skew.value_or(settings.skew);
  return make(settings, shared.seed, shared.mix);
}

Result<std::unique_ptr<Workload>> Ycsb::make(const Settings& settings, uint64_t seed, std::string_view mix) {
  if (settings.core_workload < 'A' || settings.core_workload > 'F') {
    return invalid_argument("YCSB has no core workload {}; there are A, B, C, D, E, F",
                            settings.core_workload);
  }
  if (settings.field_bytes < kLeastFieldBytes || settings.field_bytes > kMostFieldBytes) {
    return invalid_argument("a field of {} bytes is not possible; choose from {} to {}", settings.field_bytes,
                            kLeastFieldBytes, kMostFieldBytes);
  }
  RETURN_IF_ERROR(Zipf::check(settings.skew));
  Result<Mix> parsed = Mix::parse(mix, default_mix(settings.core_workload));
  if (!parsed.ok()) return parsed.error();
  return std::unique_ptr<Workload>(new Ycsb(settings, seed, *parsed));
}

Ycsb::Ycsb(const Settings& settings, uint64_t seed, Mix mix)
    : settings_(settings),
      seed_(seed),
      mix_(std::move(mix)),
      ranks_(static_cast<uint64_t>(settings.records), settings.skew),
      sql_(sql_for(settings.field_bytes)) {}

uint32_t Ycsb::part_count() const {
  return static_cast<uint32_t>((settings_.records + kPartRecords - 1) / kPartRecords);
}

void Ycsb::populate(uint32_t part, RowSink sink) const {
  Random random({seed_, /*purpose=*/0x10ad, part});
  RowBuilder row;
  std::string value(settings_.field_bytes, ' ');
  const int64_t first = int64_t{part} * kPartRecords;
  const int64_t end = std::min(first + kPartRecords, settings_.records);
  for (int64_t record = first; record < end; ++record) {
    const int64_t key = key_of(static_cast<uint64_t>(record));
    row.start().integer(key);
    for (uint32_t field = 0; field < kFields; ++field) {
      write_value(key, field, static_cast<uint32_t>(random.next()), value);
      row.text(value);
    }
    sink(id_of(Table::kUsertable), row.row());
  }
}

std::unique_ptr<CallGenerator> Ycsb::generator(const StreamId& stream) const {
  return std::make_unique<Generator>(settings_, ranks_, seed_, mix_, stream);
}

std::vector<MixShare> Ycsb::mix() const {
  return mix_.applied_to(default_mix(settings_.core_workload));
}

BookRules Ycsb::book_rules() const {
  const auto mix = default_mix(settings_.core_workload);
  BookRules rules{.source = "YCSB (SoCC 2010), and its program's core workloads"};
  for (const MixShare& share : mix) {
    if (share.percent > 0) rules.mix.push_back(share);
  }
  const bool is_latest = settings_.core_workload == 'D';
  const Zipf ranks(static_cast<uint64_t>(settings_.records), Settings().skew);
  rules.choices.push_back(
      {is_latest ? "calls on the latest record" : "calls on the most popular record",
       100 * ranks.highest_probability(),
       [is_latest, popular = is_latest ? std::optional<int64_t>() : std::optional(key_of(0))](
           const Call& call) mutable -> std::optional<bool> {
         const int64_t key = call.arguments[0].scalar.as_int();
         if (call.procedure == id_of(Procedure::kInsertRecord)) {
           if (is_latest) popular = key;
           return std::nullopt;
         }
         if (!popular) return std::nullopt;
         return key == *popular;
       }});
  rules.choices.push_back(
      {"scans of at most half of the longest one", 50, [](const Call& call) -> std::optional<bool> {
         if (call.procedure != id_of(Procedure::kScanRecords)) return std::nullopt;
         return call.arguments[1].scalar.as_int() <= kLongestScan / 2;
       }});
  return rules;
}

int128 Ycsb::conserved_delta(const Call& call, std::span<const Argument>) const {
  return call.procedure == id_of(Procedure::kInsertRecord) ? 1 : 0;
}

std::vector<Check> Ycsb::check(const RowSource& rows, std::optional<int128> conserved) const {
  return check_records(rows, settings_, conserved);
}

}  // namespace mneme::ycsb
