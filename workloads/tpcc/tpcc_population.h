// The initial database of TPC-C (clause 4.3.3.1).
//
// Parts       the items, in chunks; then for each warehouse its own row, its stock in chunks, and each of its
//             districts with all its customers and orders. A part's random values depend on the seed and the
//             part alone.
#pragma once

#include <cstdint>

#include "workloads/shared/rows.h"
#include "workloads/tpcc/tpcc_random.h"
#include "workloads/tpcc/tpcc_schema.h"

namespace mneme::tpcc {

class Population {
 public:
  Population(const Scale& scale, uint64_t seed);

  uint32_t part_count() const;
  void populate(uint32_t part, RowSink sink) const;

 private:
  struct District {
    int64_t warehouse;
    int64_t number;
  };
  // The item numbers of a chunk: first <= number <= last.
  struct Chunk {
    int64_t first;
    int64_t last;
  };
  int64_t chunk_count() const;
  Chunk chunk(int64_t number) const;

  void add_items(Chunk chunk, Random& random, RowSink sink) const;
  void add_warehouse(int64_t warehouse, Random& random, RowSink sink) const;
  void add_stock(int64_t warehouse, Chunk chunk, Random& random, RowSink sink) const;
  void add_district(const District& district, Random& random, RowSink sink) const;
  void add_customers(const District& district, Random& random, RowSink sink) const;
  void add_orders(const District& district, Random& random, RowSink sink) const;
  void add_order_lines(const District& district, int64_t order, int64_t count, Random& random,
                       RowSink sink) const;

  const Scale scale_;
  const uint64_t seed_;
  const NuRandConstants constants_;
};

}  // namespace mneme::tpcc
