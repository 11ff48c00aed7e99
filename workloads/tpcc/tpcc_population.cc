#include "workloads/tpcc/tpcc_population.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "workloads/shared/row_builder.h"

namespace mneme::tpcc {
namespace {

constexpr int64_t kChunkItems = 10'000;

// A customer has paid 10.00 once; the history rows and the totals of district and warehouse agree with that.
constexpr int64_t kFirstPayment = 10'00;
constexpr int64_t kCreditLimit = 50'000'00;

// Street, street, city, state and zip code, as warehouses, districts and customers have them.
void add_address(RowBuilder& row, Random& random, Arena& scratch) {
  row.text(alphanumeric(random, 10, 20, scratch));
  row.text(alphanumeric(random, 10, 20, scratch));
  row.text(alphanumeric(random, 10, 20, scratch));
  row.text(letters(random, 2, scratch));
  row.text(zip(random, scratch));
}

// The numbers 1 to count in random order.
std::vector<int64_t> permutation(int64_t count, Random& random) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 1);
  for (size_t i = numbers.size(); i > 1; --i) {
    std::swap(numbers[i - 1], numbers[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(i) - 1))]);
  }
  return numbers;
}

}  // namespace

Population::Population(const Scale& scale, uint64_t seed)
    : scale_(scale), seed_(seed), constants_(NuRandConstants::of_seed(seed)) {}

int64_t Population::chunk_count() const {
  return (scale_.items + kChunkItems - 1) / kChunkItems;
}

Population::Chunk Population::chunk(int64_t number) const {
  return {number * kChunkItems + 1, std::min((number + 1) * kChunkItems, scale_.items)};
}

uint32_t Population::part_count() const {
  return static_cast<uint32_t>(chunk_count() + scale_.warehouses * (1 + chunk_count() + kDistricts));
}

void Population::populate(uint32_t part, RowSink sink) const {
  Random random({seed_, /*purpose=*/0x10ad, part});
  if (part < chunk_count()) return add_items(chunk(part), random, sink);

  const int64_t parts_per_warehouse = 1 + chunk_count() + kDistricts;
  const int64_t warehouse = (part - chunk_count()) / parts_per_warehouse + 1;
  const int64_t rest = (part - chunk_count()) % parts_per_warehouse;
  if (rest == 0) return add_warehouse(warehouse, random, sink);
  if (rest <= chunk_count()) return add_stock(warehouse, chunk(rest - 1), random, sink);

  const District district{warehouse, rest - chunk_count()};
  add_district(district, random, sink);
  add_customers(district, random, sink);
  add_orders(district, random, sink);
}

void Population::add_items(Chunk chunk, Random& random, RowSink sink) const {
  RowBuilder row;
  Arena scratch;
  for (int64_t item = chunk.first; item <= chunk.last; ++item) {
    scratch.reset();
    row.start().integer(item).integer(random.uniform(1, 10'000));
    row.text(alphanumeric(random, 14, 24, scratch));
    row.numeric(random.uniform(1'00, 100'00));
    row.text(data_with_original(random, scratch));
    sink(id_of(Table::kItem), row.row());
  }
}

void Population::add_warehouse(int64_t warehouse, Random& random, RowSink sink) const {
  RowBuilder row;
  Arena scratch;
  row.start().integer(warehouse);
  row.text(alphanumeric(random, 6, 10, scratch));
  add_address(row, random, scratch);
  row.numeric(random.uniform(0, 2000));
  row.numeric(kFirstPayment * scale_.customers * kDistricts);
  sink(id_of(Table::kWarehouse), row.row());
}

void Population::add_stock(int64_t warehouse, Chunk chunk, Random& random, RowSink sink) const {
  RowBuilder row;
  Arena scratch;
  for (int64_t item = chunk.first; item <= chunk.last; ++item) {
    scratch.reset();
    row.start().integer(warehouse).integer(item).integer(random.uniform(10, 100));
    for (int64_t district = 1; district <= kDistricts; ++district)
      row.text(alphanumeric(random, 24, 24, scratch));
    row.integer(0).integer(0).integer(0);
    row.text(data_with_original(random, scratch));
    sink(id_of(Table::kStock), row.row());
  }
}

void Population::add_district(const District& district, Random& random, RowSink sink) const {
  RowBuilder row;
  Arena scratch;
  row.start().integer(district.warehouse).integer(district.number);
  row.text(alphanumeric(random, 6, 10, scratch));
  add_address(row, random, scratch);
  row.numeric(random.uniform(0, 2000));
  row.numeric(kFirstPayment * scale_.customers);
  row.integer(scale_.customers + 1);
  sink(id_of(Table::kDistrict), row.row());
}

void Population::add_customers(const District& district, Random& random, RowSink sink) const {
  RowBuilder row;
  Arena scratch;
  for (int64_t customer = 1; customer <= scale_.customers; ++customer) {
    scratch.reset();
    const int64_t name =
        customer <= scale_.last_names()
            ? customer - 1
            : nu_rand(random, kLastNameA, constants_.last_name_load, 0, scale_.last_names() - 1);
    row.start().integer(district.warehouse).integer(district.number).integer(customer);
    row.text(alphanumeric(random, 8, 16, scratch)).text("OE").text(LastName(name).text());
    add_address(row, random, scratch);
    row.text(digits(random, 16, scratch)).timestamp(kPopulationTime);
    row.text(random.chance(10) ? "BC" : "GC");
    row.numeric(kCreditLimit).numeric(random.uniform(0, 5000));
    row.numeric(-kFirstPayment).numeric(kFirstPayment).integer(1).integer(0);
    row.text(alphanumeric(random, 300, 500, scratch));
    sink(id_of(Table::kCustomer), row.row());

    row.start().integer(customer).integer(district.number).integer(district.warehouse);
    row.integer(district.number).integer(district.warehouse);
    row.timestamp(kPopulationTime).numeric(kFirstPayment).text(alphanumeric(random, 12, 24, scratch));
    sink(id_of(Table::kHistory), row.row());
  }
}

void Population::add_orders(const District& district, Random& random, RowSink sink) const {
  RowBuilder row;
  const std::vector<int64_t> customers = permutation(scale_.customers, random);
  for (int64_t order = 1; order <= scale_.customers; ++order) {
    const bool delivered = order <= scale_.delivered_orders();
    const int64_t line_count = random.uniform(5, 15);
    row.start().integer(district.warehouse).integer(district.number).integer(order);
    row.integer(customers[static_cast<size_t>(order - 1)]).timestamp(kPopulationTime);
    if (delivered) {
      row.integer(random.uniform(1, 10));
    } else {
      row.null();
    }
    row.integer(line_count).integer(1);
    sink(id_of(Table::kOrders), row.row());

    add_order_lines(district, order, line_count, random, sink);

    if (!delivered) {
      row.start().integer(district.warehouse).integer(district.number).integer(order);
      sink(id_of(Table::kNewOrder), row.row());
    }
  }
}

void Population::add_order_lines(const District& district, int64_t order, int64_t count, Random& random,
                                 RowSink sink) const {
  const bool delivered = order <= scale_.delivered_orders();
  RowBuilder row;
  Arena scratch;
  for (int64_t line = 1; line <= count; ++line) {
    scratch.reset();
    row.start().integer(district.warehouse).integer(district.number).integer(order).integer(line);
    row.integer(random.uniform(1, scale_.items)).integer(district.warehouse);
    if (delivered) {
      row.timestamp(kPopulationTime).integer(5).numeric(0);
    } else {
      row.null().integer(5).numeric(random.uniform(1, 9'999'99));
    }
    row.text(alphanumeric(random, 24, 24, scratch));
    sink(id_of(Table::kOrderLine), row.row());
  }
}

}  // namespace mneme::tpcc
