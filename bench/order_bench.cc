// An order as TPC-C's New-Order has it, without what lies above the engine: ten rows of stock, 344 bytes wide
// and anywhere, are found and changed; one after the other, or prefetched as a group; then with ten order
// lines inserted, whose keys follow each other in ten districts.
//
// Unit        nanoseconds a transaction.
#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/benchmarks.h"
#include "engine/transaction/transaction.h"
#include "engine/transaction/unlogged_writer.h"
#include "logging/commit/order_log.h"

namespace mneme::bench {
namespace {

constexpr TableId kStock{0}, kLine{1};
constexpr IndexId kStockById{0}, kLineByOrder{1};
constexpr ColumnId kStockId{0}, kQuantity{1};
constexpr int kLines = 10;

Catalog make_order_catalog() {
  const Type number{.kind = TypeKind::kInt};
  const Type text{.kind = TypeKind::kChar, .length = 24};
  std::vector<Column> stock{{"id", {.kind = TypeKind::kBigInt}, false}, {"quantity", number, false}};
  for (int i = 0; i < 10; ++i) stock.push_back({"district_" + std::to_string(i), text, false});
  stock.push_back({"data", {.kind = TypeKind::kVarchar, .length = 50}, false});
  Catalog catalog;
  CHECK(catalog.add_table("stock", std::move(stock), {kStockId}).ok());
  CHECK(catalog
            .add_table("line",
                       {{"district", number, false},
                        {"number", number, false},
                        {"place", number, false},
                        {"quantity", number, false},
                        {"text", text, false}},
                       {ColumnId{0}, ColumnId{1}, ColumnId{2}})
            .ok());
  catalog.mark_ordered(kLineByOrder);
  return catalog;
}

class Orders {
 public:
  explicit Orders(uint64_t rows)
      : count_(std::bit_floor(rows)),
        log_(kFirstLsn),
        database_(make_order_catalog(), 1),
        transaction_(database_, database_.worker(WorkerId{0})) {
    UnloggedWriter writer(database_);
    std::vector<Value> values(13, Value::of_text("twenty-four characters.."));
    for (uint64_t id = 0; id < count_; ++id) {
      values[0] = Value::of_int(static_cast<int64_t>(id));
      values[1] = Value::of_int(0);
      CHECK(writer.insert(kStock, values) == AccessStatus::kOk);
    }
    database_.attach_log(log_);
  }

  void run(bool prefetched, bool with_lines) {
    for (RowLookup& lookup : lookups_) {
      const Value id = Value::of_int(static_cast<int64_t>(at_));
      lookup = {kStockById, ImageParts::all(), *database_.schema().codec(kStockById).of_whole({&id, 1})};
      at_ = next_in_cycle(at_, count_);
    }
    transaction_.begin();
    if (prefetched) transaction_.prefetch(lookups_);
    ++order_;
    for (int i = 0; i < kLines; ++i) {
      change_stock(lookups_[static_cast<size_t>(i)]);
      if (with_lines) insert_line(i);
    }
    CHECK(transaction_.commit(as_bytes("a call")).status == CommitStatus::kCommitted);
  }

 private:
  void change_stock(const RowLookup& lookup) {
    const RowLayout& layout = database_.schema().layout(kStock);
    RowRef row;
    std::byte* image = nullptr;
    CHECK(transaction_.find_parts(lookup.index, lookup.key.index_key(), lookup.parts, Purpose::kRead, row) ==
          AccessStatus::kOk);
    CHECK(transaction_.change_parts(kStock, row, layout.parts(kQuantity), image) == AccessStatus::kOk);
    layout.set(image, kQuantity, Value::of_int(layout.get(image, kQuantity).as_int() + 1));
  }
  void insert_line(int place) {
    const RowLayout& layout = database_.schema().layout(kLine);
    std::byte* image = transaction_.new_image(kLine);
    const std::array<int64_t, 4> numbers{order_ % 10, order_ / 10, place, 5};
    for (uint32_t i = 0; i < numbers.size(); ++i) layout.set(image, ColumnId{i}, Value::of_int(numbers[i]));
    layout.set(image, ColumnId{4}, Value::of_text("twenty-four characters.."));
    CHECK(transaction_.insert_image(kLine, image) == AccessStatus::kOk);
  }

  const uint64_t count_;
  OrderLog log_;
  Database database_;
  Transaction transaction_;
  std::array<RowLookup, kLines> lookups_;
  uint64_t at_ = 0;
  int64_t order_ = 0;
};

}  // namespace

void register_order(const Sizes& sizes) {
  const auto orders = std::make_shared<std::unique_ptr<Orders>>();
  const auto add = [&](const char* name, bool prefetched, bool with_lines) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
      if (*orders == nullptr) *orders = std::make_unique<Orders>(sizes.entries);
      for (auto _ : state) (*orders)->run(prefetched, with_lines);
    });
  };
  add("order/ten_rows", false, false);
  add("order/ten_rows_prefetched", true, false);
  add("order/ten_rows_prefetched_and_lines", true, true);
}

}  // namespace mneme::bench
