// The manifest, and a log directory: what a data directory holds besides rows.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "logging/device/remote_options.h"
#include "logging/directory/manifest.h"
#include "logging/reading/log_reader.h"
#include "logging/reading/log_windows.h"
#include "logging/testing/nvm_test_log.h"
#include "logging/testing/test_log.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

void hold_manifest(ByteSpan input) {
  const Result<Manifest> manifest = Manifest::decode(as_text(input), "the manifest");
  if (!accepted(manifest)) return;
  const std::string text = manifest->encode();
  const Result<Manifest> again = Manifest::decode(text, "the manifest");
  CHECK(again.ok());
  CHECK(again->encode() == text);
  (void)again->next_segment_number();
}

std::vector<Bytes> manifest_seeds() {
  Manifest manifest = test::new_manifest();
  manifest.checkpoint_file = "checkpoint-1";
  std::vector<Bytes> seeds{bytes_of(manifest.encode())};
  manifest.records = RecordContent::kAll;
  manifest.tuple_image = TupleImage::kChanged;
  manifest.layout = LogLayout::kEpoch;
  manifest.incarnations = {{1, kFirstLsn, {}, {kFirstPosition, StreamPosition{900}}},
                           {2, Lsn{900}, Lsn{1000}}};
  manifest.holes = {{StreamPosition{128}, StreamPosition{192}}};
  manifest.segments = {{"log-000001", 1, 1, 0}, {"log-000002", 2, 1, 1, true}};
  manifest.attributes = {{"workload", "tpcc"}, {"warehouses", "2"}};
  seeds.push_back(bytes_of(manifest.encode()));
  return seeds;
}

// Files elsewhere, and servers, are the operator's: no bytes in the directory are asked what they hold.
bool stays_inside(const Manifest& manifest) {
  const auto names_path = [](const SegmentEntry& each) { return each.file.find('/') != std::string::npos; };
  return std::ranges::none_of(manifest.segments, names_path) &&
         !manifest.attributes.contains(kLogServersAttribute);
}

bool are_alike(const RecordView& a, const RecordView& b) {
  return a.lsn == b.lsn && a.kind == b.kind && std::ranges::equal(a.payload, b.payload);
}

// Not kept, its records are read a window at a time: they are the same.
void check_windows(const std::string& folder, const Manifest& manifest, const LogContents& kept) {
  const auto log =
      read_log(folder, manifest,
               {.most_kept_bytes = 0, .window_bytes = 4096, .patience = std::chrono::milliseconds(0)});
  CHECK(log.ok());
  CHECK(log->end == kept.end);
  if (log->is_kept) return;
  size_t next = 0;
  for (size_t i = 0; i < log->windows.size(); ++i) {
    const auto window = read_window(folder, *log, i);
    CHECK(window.ok());
    for (const RecordView& each : window->records) {
      CHECK(next < kept.records.size());
      CHECK(are_alike(each, kept.records[next++]));
    }
  }
  CHECK(next == kept.records.size());
}

void hold_log(ByteSpan input) {
  const std::string& folder = scratch_folder();
  const std::vector<ArchivedFile> files = unpack(input);
  // Long ones are the manifest's own target's.
  if (std::ranges::any_of(files,
                          [](const auto& f) { return f.name == "MANIFEST" && f.content.size() > 8192; }))
    return;
  unpack_into(folder, files);
  const Result<Manifest> manifest = read_manifest(folder);
  if (!accepted(manifest) || !stays_inside(*manifest)) return;
  const LogReadOptions options{.patience = std::chrono::milliseconds(0)};
  const Result<LogContents> once = read_log(folder, *manifest, options);
  LogReadOptions side_by_side = options;
  side_by_side.threads = 2;
  const Result<LogContents> again = read_log(folder, *manifest, side_by_side);
  CHECK(once.ok() == again.ok());
  if (!accepted(once)) return;
  CHECK(once->end == again->end);
  CHECK(once->dropped_bytes == again->dropped_bytes);
  CHECK(std::ranges::equal(once->records, again->records, are_alike));
  // Its parts can be found, as damage in them would be told.
  for (const RecordView& each : once->records) CHECK(!once->place_of(each).file.empty());
  if (!once->streams) check_windows(folder, *manifest, *once);
}

// A log of two lives in this layout, on this device; and as it was before its last closing.
void add_log(LogLayout layout, bool is_nvm, std::vector<Bytes>& seeds) {
  test::TemporaryDirectory directory;
  for (uint64_t life = 0; life < 2; ++life) {
    DurableLogOptions options = is_nvm ? test::small_nvm_log(2) : test::small_log(2);
    options.layout = layout;
    options.segments.bytes = size_t{16} << 10;
    options.largest_payload_bytes = 300;
    options.ring_bytes = 1;  // raised to what the workers' largest records need
    options.streams.count = 2;
    options.epoch.loggers = 2;
    test::OpenLog opened = test::open_for_work(directory.path(), options);
    std::vector<Lsn> lsns;
    for (uint64_t i = 0; i < 12; ++i) {
      const RecordKind kind = i % 5 == 3   ? RecordKind::kSkip
                              : i % 5 == 4 ? RecordKind::kSchema
                                           : RecordKind::kCommand;
      const Bytes payload =
          kind == RecordKind::kSkip ? Bytes(40) : test::payload_of(life * 100 + i, 20 + i * 17);
      lsns.push_back(test::append(*opened.log, WorkerId{static_cast<uint32_t>(i % 2)}, payload, kind));
    }
    CHECK(opened.log->wait_durable(lsns.back()));
    if (life == 1) seeds.push_back(pack(files_of(directory.path())));
  }
  seeds.push_back(pack(files_of(directory.path())));
}

std::vector<Bytes> log_seeds() {
  std::vector<Bytes> seeds;
  for (const LogLayout layout : {LogLayout::kStream, LogLayout::kEpoch, LogLayout::kDistributed}) {
    add_log(layout, false, seeds);
  }
  for (const LogLayout layout : {LogLayout::kStream, LogLayout::kDistributed}) add_log(layout, true, seeds);
  return seeds;
}

}  // namespace

const Target kManifestTarget{
    .name = "manifest", .hold = hold_manifest, .repair = repair_manifest, .seeds = manifest_seeds};
const Target kLogTarget{
    .name = "log", .hold = hold_log, .repair = repair_directory, .seeds = log_seeds, .is_archive = true};

}  // namespace mneme::fuzz
