// Goal    the paper's own examples come out as the paper shows them.
// Method  golden: the bank of Figures 2 to 5, TPC-C held against Figure 21, and Smallbank.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/dependency_graph.h"
#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

struct Analyzed {
  explicit Analyzed(const std::string& path)
      : program(compile_or_die(source_file(path))), graph(analyze(*program, AnalysisOptions::paper())) {}

  const LocalGraph& local(std::string_view procedure) const {
    return graph.local(program->find_procedure(procedure)->id);
  }

  std::string tables(const Block& block) const {
    std::string names;
    for (TableId table : block.tables)
      names += (names.empty() ? "" : " ") + program->catalog.table(table).name;
    return names;
  }

  // "table: columns" for each table with lanes, "*" for any lane.
  std::set<std::string> lanes() const {
    std::set<std::string> all;
    for (const Block& block : graph.blocks) {
      for (const LaneTable& lane_table : block.lanes) {
        const TableDefinition& table = program->catalog.table(lane_table.table);
        std::string text = table.name + ":";
        if (lane_table.any_lane) text += " *";
        for (ColumnId column : lane_table.columns) text += " " + table.column(column).name;
        all.insert(text);
      }
    }
    return all;
  }

  std::unique_ptr<Program> program;
  DependencyGraph graph;
};

TEST(Paper, BankIsSlicedAsInFigures3To5) {
  const Analyzed bank("tests/data/bank.sql");
  // Figures 3 and 5a: T1 reads the spouse, T2 moves the money, T3 adds the bonus.
  EXPECT_EQ(describe(bank.local("transfer")), "T1{1} T2{2 3 4 5} T3{6 7}; T1->T2 T1->T3");
  // Figures 4 and 5b: D2 and D3 depend on the value that D1 read.
  EXPECT_EQ(describe(bank.local("deposit")), "D1{1 2} D2{3 4} D3{5 6}; D1->D2 D1->D3");
  // Figure 5c, with the edge from α to γ that the figure leaves out because α->β and β->γ imply it.
  EXPECT_EQ(describe_blocks(bank.graph), "α{T1} β{T2 D1} γ{T3 D2} δ{D3}; α->β α->γ β->γ β->δ");
  EXPECT_EQ(bank.lanes(), (std::set<std::string>{"current: name", "saving: name", "stats: nation"}));
}

// Figure 21 shows the blocks that follow from each table being a block of its own, linked by the keys and
// values that NewOrder, Payment and Delivery carry from one to the next. No cycle merges two: NewOrder runs
// from district to the orders, Delivery from new_order over orders and order_line to customer, Payment into
// history.
TEST(Paper, TpccHasOneBlockATable) {
  const Analyzed tpcc("workloads/tpcc/tpcc.sql");
  std::multiset<std::string> tables;
  for (const Block& block : tpcc.graph.blocks) tables.insert(tpcc.tables(block));
  EXPECT_EQ(tables, (std::multiset<std::string>{"customer", "district", "history", "item", "new_order",
                                                "order_line", "orders", "stock", "warehouse"}));

  std::set<std::string> edges;
  for (const BlockEdge& edge : tpcc.graph.edges) {
    edges.insert(tpcc.tables(tpcc.graph.block(edge.from)) + "->" + tpcc.tables(tpcc.graph.block(edge.to)));
  }
  EXPECT_EQ(edges, (std::set<std::string>{
                       // NewOrder: the order's number; the item's price and the stock's district text.
                       "district->orders", "district->new_order", "district->order_line", "item->order_line",
                       "stock->order_line",
                       // Payment: the names of warehouse and district, and the customer found by last name.
                       "warehouse->history", "district->history", "customer->history",
                       // Delivery: the oldest order, its customer, and the sum of its lines.
                       "new_order->orders", "new_order->order_line", "new_order->customer",
                       "orders->customer", "order_line->customer"}));
}

TEST(Paper, TpccLanesAreTheKnownPartsOfTheKeys) {
  const Analyzed tpcc("workloads/tpcc/tpcc.sql");
  EXPECT_EQ(tpcc.lanes(),
            (std::set<std::string>{"warehouse: w_id", "district: d_w_id d_id",
                                   // Payment by last name finds c_id while its block runs.
                                   "customer: c_w_id c_d_id", "history: *",
                                   // Delivery finds the oldest order while its block runs.
                                   "new_order: no_w_id no_d_id", "orders: o_w_id o_d_id o_id",
                                   "order_line: ol_w_id ol_d_id ol_o_id", "stock: s_w_id s_i_id"}));
}

TEST(Paper, TpccReplaysOnlyWhatAWriteNeeds) {
  const Analyzed tpcc("workloads/tpcc/tpcc.sql");
  std::set<std::string> skipped;
  for (std::string_view name : {"new_order", "payment", "delivery"}) {
    const LocalGraph& local = tpcc.local(name);
    for (const Slice& slice : local.slices) {
      for (OperationId id : slice.operations) {
        if (std::ranges::binary_search(slice.replayed, id)) continue;
        const ir::Operation& operation = tpcc.program->procedure(local.procedure).operations[id.value];
        skipped.insert(std::string(name) + " " + tpcc.program->catalog.table(operation.access[0].table).name);
      }
    }
  }
  // NewOrder shows the customer and the warehouse's tax to the terminal and writes neither anywhere.
  EXPECT_EQ(skipped, (std::set<std::string>{"new_order customer", "new_order warehouse"}));
}

TEST(Paper, TpccStockRunsApartByOrderLine) {
  const Analyzed tpcc("workloads/tpcc/tpcc.sql");
  std::set<std::string> apart;
  for (std::string_view name : {"new_order", "payment", "delivery"}) {
    for (const Slice& slice : tpcc.local(name).slices) {
      if (slice.iterations_independent) {
        apart.insert(std::string(name) + " " + tpcc.tables(tpcc.graph.block(slice.block)));
      }
    }
  }
  EXPECT_EQ(apart, (std::set<std::string>{"new_order stock", "new_order order_line", "delivery new_order",
                                          "delivery orders", "delivery order_line", "delivery customer"}));
}

TEST(Paper, SmallbankHasOneBlockATable) {
  const Analyzed smallbank("workloads/smallbank/smallbank.sql");
  // Nothing writes account: its readers are in no conflict, and each look-up is a block of its own.
  std::map<std::string, size_t> blocks;
  for (const Block& block : smallbank.graph.blocks) ++blocks[smallbank.tables(block)];
  EXPECT_EQ(blocks, (std::map<std::string, size_t>{{"account", 7}, {"savings", 1}, {"checking", 1}}));
  EXPECT_EQ(smallbank.lanes(), (std::set<std::string>{"savings: s_customer_id", "checking: c_customer_id"}));
  EXPECT_EQ(describe(smallbank.local("balance")), "B1{1} B2{2} B3{3}; B1->B2 B1->B3");
}

}  // namespace
}  // namespace mneme
