// Test database, for the tests of the engine and of the layers above it: a log that is a counter, one that
// keeps its records (logging/testing/kept_log.h), and a small table to run transactions on.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/transaction/transaction.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/testing/kept_log.h"

namespace mneme {

// A CommitLog that keeps nothing but the order: what reserve() promises, without bytes or a device.
class CountingLog final : public CommitLog {
 public:
  bool await_space(WorkerId, uint32_t) override { return !failed_.load(std::memory_order_relaxed); }
  Lsn reserve(WorkerId, uint32_t payload_bytes) override {
    return Lsn{tail_.fetch_add(payload_bytes + kRecordHeaderBytes, std::memory_order_acq_rel)};
  }
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan) override {
    (kind == RecordKind::kSkip ? skipped_ : filled_).fetch_add(1, std::memory_order_relaxed);
    if (at_fill_ && kind == RecordKind::kCommand) at_fill_(worker, lsn);
  }
  bool leaves_holes() const override { return leaves_holes_; }
  Lsn durable() const override {
    return held_back_.load(std::memory_order_relaxed) ? Lsn{flushed_.load(std::memory_order_acquire)}
                                                      : Lsn{tail_.load(std::memory_order_acquire)};
  }
  bool wait_durable(Lsn lsn) override {
    if (on_demand_.load(std::memory_order_relaxed)) flush();
    return lsn < durable();
  }
  std::optional<Error> failure() const override {
    return failed_.load(std::memory_order_relaxed) ? std::optional(failed("the log was made to fail"))
                                                   : std::nullopt;
  }

  // While it is held back, nothing becomes durable; `on_demand`: all does once somebody waits.
  void hold_back(bool held, bool on_demand = false) {
    on_demand_.store(on_demand, std::memory_order_relaxed);
    held_back_.store(held, std::memory_order_relaxed);
  }
  // Makes it a log that may lose records alone. `at_fill` is called by the worker that fills a record. Before
  // any transaction.
  void leave_holes(std::function<void(WorkerId, Lsn)> at_fill = {}) {
    leaves_holes_ = true;
    at_fill_ = std::move(at_fill);
  }
  void fail() { failed_.store(true, std::memory_order_relaxed); }
  uint64_t filled() const { return filled_.load(std::memory_order_relaxed); }
  uint64_t skipped() const { return skipped_.load(std::memory_order_relaxed); }

 private:
  void flush() {
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    uint64_t flushed = flushed_.load(std::memory_order_relaxed);
    while (flushed < tail && !flushed_.compare_exchange_weak(flushed, tail, std::memory_order_acq_rel,
                                                             std::memory_order_relaxed)) {
    }
  }

  bool leaves_holes_ = false;
  std::function<void(WorkerId, Lsn)> at_fill_;
  // Advanced by reserve() (acq_rel: it orders the workers' locks and validations), read by durable()
  // (acquire).
  std::atomic<uint64_t> tail_{kFirstLsn.value};
  // The end of a log that is held back. Raised by flush() (release), read by durable() (acquire).
  std::atomic<uint64_t> flushed_{kFirstLsn.value};
  // Statistics and switches: relaxed, nothing else depends on them.
  std::atomic<uint64_t> filled_{0};
  std::atomic<uint64_t> skipped_{0};
  std::atomic<bool> held_back_{false};
  std::atomic<bool> on_demand_{false};
  std::atomic<bool> failed_{false};
};

// item(id int primary key, grp int, code int, amount bigint, note varchar(12)), with an index on (grp) and,
// where asked, a unique one on (code).
struct TestDatabase {
  static constexpr ColumnId kId{0}, kGroup{1}, kCode{2}, kAmount{3}, kNote{4};
  static constexpr TableId kItem{0};
  static constexpr IndexId kById{0}, kByGroup{1}, kByCode{2};

  explicit TestDatabase(uint32_t workers = 2, bool ordered = true) : db(make_catalog(ordered), workers) {
    db.attach_log(log);
  }

  static Catalog make_catalog(bool ordered) {
    const Type int_type{.kind = TypeKind::kInt};
    Catalog catalog;
    CHECK(catalog
              .add_table("item",
                         {{"id", int_type, false},
                          {"grp", int_type, false},
                          {"code", int_type, false},
                          {"amount", {.kind = TypeKind::kBigInt}, false},
                          {"note", {.kind = TypeKind::kVarchar, .length = 12}, true}},
                         {kId})
              .ok());
    CHECK(catalog.add_index("item_grp", kItem, {kGroup}, false).ok());
    CHECK(catalog.add_index("item_code", kItem, {kCode}, true).ok());
    if (ordered) catalog.mark_ordered(kById);
    if (ordered) catalog.mark_ordered(kByCode);
    return catalog;
  }

  IndexKey id_key(int64_t id) const {
    const Value value = Value::of_int(id);
    return *db.schema().codec(kById).of_whole({&value, 1});
  }
  IndexKey code_key(int64_t code) const {
    const Value value = Value::of_int(code);
    return *db.schema().codec(kByCode).of_whole({&value, 1});
  }
  KeyRange group_range(int64_t group) const {
    const Value value = Value::of_int(group);
    return *db.schema().codec(kByGroup).of_prefix({&value, 1});
  }
  KeyRange id_range(int64_t low, int64_t high) const {
    return *db.schema().codec(kById).of_range({}, KeyCodec::Bound{Value::of_int(low), true},
                                              KeyCodec::Bound{Value::of_int(high), true});
  }
  static std::array<Value, 5> values(int64_t id, int64_t group, int64_t code, int64_t amount) {
    return {Value::of_int(id), Value::of_int(group), Value::of_int(code), Value::of_int(amount),
            Value::of_text("note")};
  }
  int64_t get(const RowRef& row, ColumnId column) const {
    return db.schema().layout(kItem).get(row.image, column).as_int();
  }

  // Steps of a transaction, as one would write them.
  AccessStatus insert(Transaction& t, int64_t id, int64_t group, int64_t code, int64_t amount) const {
    return t.insert(kItem, values(id, group, code, amount));
  }
  AccessStatus set(Transaction& t, int64_t id, ColumnId column, int64_t value) const {
    RowRef row;
    const AccessStatus status = t.find(kById, id_key(id), row);
    if (status != AccessStatus::kOk) return status;
    const ColumnValue change{column, Value::of_int(value)};
    return t.update(kItem, row, {&change, 1});
  }
  AccessStatus erase(Transaction& t, int64_t id) const {
    RowRef row;
    const AccessStatus status = t.find(kById, id_key(id), row);
    return status == AccessStatus::kOk ? t.erase(kItem, row) : status;
  }
  // Returns nullopt if there is no such row, or a conflict.
  std::optional<int64_t> amount(Transaction& t, int64_t id) const {
    RowRef row;
    if (t.find(kById, id_key(id), row) != AccessStatus::kOk) return std::nullopt;
    return get(row, kAmount);
  }
  std::vector<int64_t> ids_in_group(Transaction& t, int64_t group,
                                    RowAccess::Direction direction = RowAccess::Direction::kForward) const {
    std::vector<int64_t> ids;
    const AccessStatus status = t.scan(kByGroup, group_range(group), direction, [&](const RowRef& row) {
      ids.push_back(get(row, kId));
      return true;
    });
    CHECK(status == AccessStatus::kOk);
    return ids;
  }
  static CommitOutcome commit(Transaction& t) { return t.commit(as_bytes("a call")); }

  CountingLog log;
  Database db;
};

}  // namespace mneme
