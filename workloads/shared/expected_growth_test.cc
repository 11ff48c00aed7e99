// Goal: the estimate is what calls insert, and nothing for those that insert nothing.
// Method: mixes of one procedure each, whose inserts are known; rows and entries counted by hand.
#include "workloads/shared/expected_growth.h"

#include <gtest/gtest.h>

#include <string>

#include "procedures/binder/program.h"
#include "workloads/workload_table.h"

namespace mneme {
namespace {

class ExpectedGrowthTest : public testing::Test {
 protected:
  void make(const std::string& name) {
    name_ = name;
    program_ = *compile(workload("default")->sql(), name + ".sql");
    database_ = std::make_unique<Database>(program_->catalog, 1);
  }

  std::unique_ptr<Workload> workload(const std::string& mix) const {
    WorkloadOptions options;
    options.mix = mix;
    return *make_workload(name_, options);
  }

  double growth(const std::string& mix) const {
    return expected_growth_per_call(*workload(mix), *program_, *database_);
  }

  size_t slot_bytes(const char* table) const {
    return database_->table(program_->catalog.find_table(table)->id).rows().slot_bytes();
  }

  std::string name_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Database> database_;
};

TEST_F(ExpectedGrowthTest, OfTpccIsWhatItsProceduresInsert) {
  make("tpcc");
  EXPECT_EQ(growth("payment=100"), slot_bytes("history")) << "a table without an index";
  EXPECT_EQ(growth("delivery=100"), 0) << "it deletes, and updates";
  EXPECT_EQ(growth("stock_level=50,order_status=50"), 0);
  // 5 to 15 lines an order, 10 on average.
  const double rows =
      static_cast<double>(slot_bytes("orders") + slot_bytes("new_order") + 10 * slot_bytes("order_line"));
  EXPECT_GT(growth("new_order=100"), rows * 1.1);
  EXPECT_LT(growth("new_order=100"), rows * 2);
}

TEST_F(ExpectedGrowthTest, IsNothingWhereRowsOnlyChange) {
  make("smallbank");
  EXPECT_EQ(growth("default"), 0);
}

TEST_F(ExpectedGrowthTest, IsNothingWhereAsManyAreDeleted) {
  make("tatp");
  EXPECT_EQ(growth("insert_call_forwarding=50,delete_call_forwarding=50"), 0);
  EXPECT_EQ(growth("default"), 0);
  EXPECT_GT(growth("insert_call_forwarding=60,delete_call_forwarding=40"), 0);
}

}  // namespace
}  // namespace mneme
