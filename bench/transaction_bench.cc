// Transactions by themselves, on one table with one worker and a log that only draws LSNs: read a row and
// commit; change one, or sixteen, and commit; insert a row and delete it again, in two transactions.
//
// Unit        nanoseconds a transaction (a pair of them for insert_and_erase).
#include <benchmark/benchmark.h>

#include <bit>
#include <memory>
#include <string>

#include "base/check.h"
#include "bench/benchmarks.h"
#include "engine/transaction/transaction.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/commit/order_log.h"

namespace mneme::bench {
namespace {

constexpr TableId kItem{0};
constexpr IndexId kById{0};
constexpr ColumnId kId{0};
constexpr ColumnId kAmount{1};

Catalog make_catalog() {
  const Type number{.kind = TypeKind::kBigInt};
  Catalog catalog;
  CHECK(catalog
            .add_table("item",
                       {{"id", number, false},
                        {"amount", number, false},
                        {"note", {.kind = TypeKind::kVarchar, .length = 50}, false}},
                       {kId})
            .ok());
  return catalog;
}

class Items {
 public:
  explicit Items(uint64_t rows)
      : count_(std::bit_floor(rows)),
        log_(kFirstLsn),
        database_(make_catalog(), 1),
        transaction_(database_, database_.worker(WorkerId{0})) {
    UnloggedWriter writer(database_);
    for (uint64_t id = 0; id < count_; ++id) CHECK(writer.insert(kItem, values(id)) == AccessStatus::kOk);
    database_.attach_log(log_);
  }

  Transaction& transaction() { return transaction_; }
  uint64_t count() const { return count_; }
  uint64_t next(uint64_t at) const { return next_in_cycle(at, count_); }

  RowRef find(uint64_t id) {
    const Value value = Value::of_int(static_cast<int64_t>(id));
    RowRef row;
    CHECK(transaction_.find(kById, *database_.schema().codec(kById).of_whole({&value, 1}), row) ==
          AccessStatus::kOk);
    return row;
  }
  int64_t amount(const RowRef& row) const {
    return database_.schema().layout(kItem).get(row.image, kAmount).as_int();
  }
  void add(uint64_t id, int64_t amount) {
    RowRef row = find(id);
    const ColumnValue change{kAmount, Value::of_int(this->amount(row) + amount)};
    CHECK(transaction_.update(kItem, row, {&change, 1}) == AccessStatus::kOk);
  }
  void insert(uint64_t id) { CHECK(transaction_.insert(kItem, values(id)) == AccessStatus::kOk); }
  void erase(uint64_t id) {
    RowRef row = find(id);
    CHECK(transaction_.erase(kItem, row) == AccessStatus::kOk);
  }
  void commit() { CHECK(transaction_.commit(as_bytes("a call")).status == CommitStatus::kCommitted); }

 private:
  static std::array<Value, 3> values(uint64_t id) {
    return {Value::of_int(static_cast<int64_t>(id)), Value::of_int(0),
            Value::of_text("of about the length that notes have")};
  }

  const uint64_t count_;
  OrderLog log_;
  Database database_;
  Transaction transaction_;
};

void read(benchmark::State& state, Items& items) {
  uint64_t at = 0;
  int64_t sum = 0;
  for (auto _ : state) {
    items.transaction().begin();
    sum += items.amount(items.find(at));
    items.commit();
    at = items.next(at);
  }
  benchmark::DoNotOptimize(sum);
}

template <int kRows>
void update(benchmark::State& state, Items& items) {
  uint64_t at = 0;
  for (auto _ : state) {
    items.transaction().begin();
    for (int i = 0; i < kRows; ++i) {
      items.add(at, 1);
      at = items.next(at);
    }
    items.commit();
  }
}

void insert_and_erase(benchmark::State& state, Items& items) {
  uint64_t at = 0;
  for (auto _ : state) {
    const uint64_t id = items.count() + at;
    items.transaction().begin();
    items.insert(id);
    items.commit();
    items.transaction().begin();
    items.erase(id);
    items.commit();
    at = items.next(at);
  }
}

}  // namespace

void register_transaction(const Sizes& sizes) {
  const auto items = std::make_shared<std::unique_ptr<Items>>();
  const auto add = [&](const char* name, void (*run)(benchmark::State&, Items&)) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
      if (*items == nullptr) *items = std::make_unique<Items>(sizes.entries);
      run(state, **items);
    });
  };
  add("transaction/read_1", read);
  add("transaction/update_1", update<1>);
  add("transaction/update_16", update<16>);
  add("transaction/insert_and_erase", insert_and_erase);
}

}  // namespace mneme::bench
