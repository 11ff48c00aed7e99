// YCSB: keys and values can be told from others; calls have the core workloads' proportions, choose records
// that are there, and depend on stream and position alone; the conditions find records and fields that should
// not be as they are.
#include "workloads/ycsb/ycsb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "procedures/interpreter/call_text.h"
#include "workloads/shared/memory_rows.h"
#include "workloads/testing/test_checks.h"

namespace mneme {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;
using ycsb::Procedure;

constexpr int kYcsbCalls = 100'000;

std::unique_ptr<Workload> ycsb_of(const ycsb::Settings& settings, std::string_view mix = "default") {
  return std::move(ycsb::Ycsb::make(settings, 1, mix)).value();
}

TEST(YcsbRecords, KeysLeadBackToTheirRecords) {
  std::set<int64_t> keys;
  for (uint64_t record = 0; record < 1'000; ++record) {
    const int64_t key = ycsb::key_of(record);
    EXPECT_TRUE(ycsb::is_key(key));
    EXPECT_EQ(ycsb::record_of(key), record);
    EXPECT_FALSE(ycsb::is_inserted(record));
    keys.insert(key);
  }
  for (const uint32_t incarnation : {0u, 1u, 65'535u}) {
    for (const uint32_t worker : {0u, 7u, 2'047u}) {
      for (const uint64_t ordinal : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 34) - 1}) {
        const ycsb::Insertion insertion{.incarnation = incarnation, .worker = worker, .ordinal = ordinal};
        const uint64_t record = ycsb::inserted_record(insertion);
        EXPECT_TRUE(ycsb::is_inserted(record));
        EXPECT_EQ(ycsb::insertion_of(record), insertion);
        EXPECT_EQ(ycsb::record_of(ycsb::key_of(record)), record);
        keys.insert(ycsb::key_of(record));
      }
    }
  }
  EXPECT_EQ(keys.size(), 1'000u + 27u);
  EXPECT_FALSE(ycsb::is_key(-1));
  EXPECT_FALSE(ycsb::is_key(int64_t{1} << 62));
}

TEST(YcsbValues, AreToldFromAllOthers) {
  for (const size_t bytes : {16u, 17u, 100u, 1'000u}) {
    std::string text(bytes, ' ');
    ycsb::write_value(/*key=*/77, /*field=*/3, /*chance=*/0xabc, text);
    EXPECT_EQ(text.substr(0, 8), "00000ABC");
    EXPECT_TRUE(ycsb::is_value(77, 3, text));
    EXPECT_FALSE(ycsb::is_value(77, 4, text));
    EXPECT_FALSE(ycsb::is_value(78, 3, text));
    EXPECT_FALSE(ycsb::is_value(77, 3, text.substr(1)));
    for (const size_t at : {size_t{0}, size_t{7}, size_t{8}, bytes - 1}) {
      std::string changed = text;
      changed[at] = changed[at] == '1' ? '2' : '1';
      EXPECT_FALSE(ycsb::is_value(77, 3, changed)) << at;
    }
  }
  EXPECT_FALSE(ycsb::is_value(77, 3, ""));
}

TEST(YcsbGenerator, ACallDependsOnItsStreamAndPositionAlone) {
  for (const char core_workload : {'A', 'D', 'E', 'F'}) {
    const std::unique_ptr<Workload> workload = ycsb_of({.core_workload = core_workload, .records = 10'000});
    const std::unique_ptr<Program> program = compiled(*workload);
    const StreamId stream{.worker = 1, .worker_count = 2};
    const auto forward = workload->generator(stream);
    std::vector<std::string> calls;
    for (uint64_t position = 0; position < 500; ++position) {
      calls.push_back(print_call(*program, forward->call(position)));
    }
    const auto backward = workload->generator(stream);
    const auto other_worker = workload->generator({.worker = 0, .worker_count = 2});
    const auto other_life = workload->generator({.worker = 1, .worker_count = 2, .incarnation = 1});
    int same = 0;
    for (uint64_t position = 500; position-- > 0;) {
      EXPECT_EQ(print_call(*program, backward->call(position)), calls[position]);
      same += print_call(*program, other_worker->call(position)) == calls[position];
      same += print_call(*program, other_life->call(position)) == calls[position];
    }
    EXPECT_LT(same, 100) << core_workload;  // reads of popular records are alike
  }
}

TEST(YcsbGenerator, CallsAreMixedAsTheCoreWorkloadsAre) {
  struct Case {
    char core_workload;
    std::array<double, 5> shares;  // read, update, insert, scan, read-modify-write
  };
  for (const auto& [core_workload, shares] :
       {Case{'A', {0.5, 0.5, 0, 0, 0}}, Case{'B', {0.95, 0.05, 0, 0, 0}}, Case{'C', {1, 0, 0, 0, 0}},
        Case{'D', {0.95, 0, 0.05, 0, 0}}, Case{'E', {0, 0, 0.05, 0.95, 0}}, Case{'F', {0.5, 0, 0, 0, 0.5}}}) {
    const auto generator =
        ycsb_of({.core_workload = core_workload, .records = 1'000, .field_bytes = 16})->generator({});
    std::array<int, 5> called{};
    constexpr uint64_t kCalls = kYcsbCalls / 4;
    for (uint64_t position = 0; position < kCalls; ++position) {
      ++called[generator->call(position).procedure.value];
    }
    for (size_t i = 0; i < shares.size(); ++i) {
      EXPECT_NEAR(called[i], kCalls * shares[i], kCalls * 0.01) << core_workload << i;
    }
  }
}

TEST(YcsbGenerator, PopularRecordsAreScatteredOverThePopulation) {
  const auto generator = ycsb_of({.core_workload = 'C', .records = 1'000})->generator({});
  std::map<uint64_t, int> read;
  for (uint64_t position = 0; position < kYcsbCalls; ++position) {
    const Call& call = generator->call(position);
    ++read[ycsb::record_of(call.arguments[0].scalar.as_int())];
  }
  EXPECT_LT(read.rbegin()->first, 1'000u);
  EXPECT_GT(read.size(), 990u);
  std::vector<std::pair<int, uint64_t>> by_popularity;
  for (const auto& [record, count] : read) by_popularity.emplace_back(-count, record);
  std::ranges::sort(by_popularity);
  EXPECT_NEAR(-by_popularity[0].first, kYcsbCalls * Zipf(1'000, 0.99).highest_probability(),
              kYcsbCalls * 0.01);
  std::set<uint64_t> hundreds;
  for (size_t i = 0; i < 20; ++i) hundreds.insert(by_popularity[i].second / 100);
  EXPECT_GE(hundreds.size(), 5u);
}

// Every key that is read, updated or scanned from is the population's, or was inserted by the stream before;
// and each insert is of a new one.
TEST(YcsbGenerator, ChoosesOnlyRecordsThatAreThere) {
  for (const char core_workload : {'A', 'D', 'E'}) {
    const ycsb::Settings settings{.core_workload = core_workload, .records = 500, .field_bytes = 16};
    const auto workload =
        ycsb_of(settings, "read_record=40,update_record=21,insert_record=7,scan_records=32");
    const StreamId stream{.worker = 3, .worker_count = 4, .incarnation = 2};
    const auto generator = workload->generator(stream);
    std::set<int64_t> there;
    for (uint64_t record = 0; record < 500; ++record) there.insert(ycsb::key_of(record));
    uint64_t own_chosen = 0;
    for (uint64_t position = 0; position < 20'000; ++position) {
      const Call& call = generator->call(position);
      const int64_t key = call.arguments[0].scalar.as_int();
      if (call.procedure == ycsb::id_of(Procedure::kInsertRecord)) {
        EXPECT_TRUE(there.insert(key).second);
        const ycsb::Insertion insertion = ycsb::insertion_of(ycsb::record_of(key));
        EXPECT_EQ(insertion.worker, 3u);
        EXPECT_EQ(insertion.incarnation, 2u);
      } else {
        ASSERT_TRUE(there.contains(key)) << "call " << position;
        own_chosen += ycsb::is_inserted(ycsb::record_of(key));
      }
    }
    EXPECT_EQ(there.size(), 500u + 20'000u * 7 / 100);
    EXPECT_EQ(own_chosen > 0, core_workload == 'D');
  }
}

TEST(YcsbGenerator, TheLatestRecordsAreTheMostPopular) {
  const auto generator = ycsb_of({.core_workload = 'D', .records = 1'000, .field_bytes = 16})->generator({});
  int newest = 0, reads = 0;
  uint64_t inserted = 0;
  for (uint64_t position = 0; position < kYcsbCalls; ++position) {
    const Call& call = generator->call(position);
    const uint64_t record = ycsb::record_of(call.arguments[0].scalar.as_int());
    if (call.procedure == ycsb::id_of(Procedure::kInsertRecord)) {
      EXPECT_EQ(ycsb::insertion_of(record).ordinal, inserted++);
    } else if (inserted > 0) {
      ++reads;
      newest += ycsb::is_inserted(record) && ycsb::insertion_of(record).ordinal == inserted - 1;
    }
  }
  EXPECT_EQ(inserted, kYcsbCalls / 20u);
  EXPECT_NEAR(newest, reads * Zipf(1'000, 0.99).highest_probability(), reads * 0.01);
}

TEST(YcsbGenerator, ValuesAreRightAndScansHaveTheirLengths) {
  const auto workload = ycsb_of({.core_workload = 'A', .records = 1'000, .field_bytes = 30},
                                "update_record=40,insert_record=20,scan_records=20,read_modify_write=20");
  const auto generator = workload->generator({});
  std::set<int64_t> fields;
  int64_t shortest = 100, longest = 0;
  for (uint64_t position = 0; position < 20'000; ++position) {
    const Call& call = generator->call(position);
    const int64_t key = call.arguments[0].scalar.as_int();
    switch (static_cast<Procedure>(call.procedure.value)) {
      case Procedure::kInsertRecord:
        ASSERT_EQ(call.arguments[1].array.size(), ycsb::kFields);
        for (uint32_t field = 0; field < ycsb::kFields; ++field) {
          EXPECT_TRUE(ycsb::is_value(key, field, call.arguments[1].array[field].as_text()));
        }
        break;
      case Procedure::kScanRecords:
        shortest = std::min(shortest, call.arguments[1].scalar.as_int());
        longest = std::max(longest, call.arguments[1].scalar.as_int());
        break;
      default: {
        const int64_t field = call.arguments[1].scalar.as_int();
        fields.insert(field);
        EXPECT_EQ(call.arguments[2].scalar.as_text().size(), 30u);
        EXPECT_TRUE(ycsb::is_value(key, static_cast<uint32_t>(field), call.arguments[2].scalar.as_text()));
      }
    }
  }
  EXPECT_EQ(fields.size(), ycsb::kFields);
  EXPECT_EQ(*fields.rbegin(), 9);
  EXPECT_EQ(shortest, 1);
  EXPECT_EQ(longest, 100);
}

class YcsbChecks : public testing::Test {
 protected:
  YcsbChecks()
      : workload_(ycsb_of({.records = 50, .field_bytes = 20})),
        program_(compiled(*workload_)),
        rows_(program_->catalog, *workload_) {}

  std::vector<std::vector<Value>>& records() { return rows_.rows("usertable"); }

  // A record with right values, `texts` holding them.
  std::vector<Value> record_of_key(int64_t key, std::vector<std::string>& texts) {
    texts.assign(ycsb::kFields, std::string(20, ' '));
    std::vector<Value> row = {Value::of_int(key)};
    for (uint32_t field = 0; field < ycsb::kFields; ++field) {
      ycsb::write_value(key, field, field, texts[field]);
      row.push_back(Value::of_text(texts[field]));
    }
    return row;
  }

  const std::unique_ptr<Workload> workload_;
  const std::unique_ptr<Program> program_;
  MemoryRows rows_;
};

TEST_F(YcsbChecks, ThePopulationMeetsAll) {
  EXPECT_EQ(workload_->check(rows_, {}).size(), 4u);
  EXPECT_EQ(workload_->check(rows_, 0).size(), 5u);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), IsEmpty());
}

TEST_F(YcsbChecks, FindValuesThatWereNotWrittenThere) {
  std::swap(records()[3][2], records()[3][3]);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), UnorderedElementsAreArray({"values"}));
  std::swap(records()[3][2], records()[3][3]);
  std::swap(records()[3][2], records()[4][2]);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), UnorderedElementsAreArray({"values"}));
  std::swap(records()[3][2], records()[4][2]);
  std::string longer(21, ' ');
  ycsb::write_value(records()[3][0].as_int(), 1, 1, longer);
  records()[3][2] = Value::of_text(longer);
  EXPECT_THAT(violated(workload_->check(rows_, 0)), UnorderedElementsAreArray({"values"}));
}

TEST_F(YcsbChecks, FindMissingAndForeignRecords) {
  std::vector<std::string> texts;
  const std::vector<Value> last = records().back();
  records().pop_back();
  EXPECT_THAT(violated(workload_->check(rows_, {})), UnorderedElementsAreArray({"population"}));
  EXPECT_THAT(violated(workload_->check(rows_, 0)), UnorderedElementsAreArray({"population", "records"}));
  records().push_back(last);
  records().push_back(record_of_key(ycsb::key_of(50), texts));
  EXPECT_THAT(violated(workload_->check(rows_, 1)), UnorderedElementsAreArray({"keys"}));
  records().back() = record_of_key(-5, texts);
  EXPECT_THAT(violated(workload_->check(rows_, 1)), UnorderedElementsAreArray({"keys"}));
}

TEST_F(YcsbChecks, FindAGapInAStreamsInserts) {
  std::array<std::vector<std::string>, 2> texts;
  const auto key = [](uint64_t ordinal) {
    return ycsb::key_of(ycsb::inserted_record({.incarnation = 1, .worker = 0, .ordinal = ordinal}));
  };
  records().push_back(record_of_key(key(1), texts[0]));
  EXPECT_THAT(violated(workload_->check(rows_, 1)), UnorderedElementsAreArray({"inserts"}));
  records().push_back(record_of_key(key(0), texts[1]));
  EXPECT_THAT(violated(workload_->check(rows_, 2)), IsEmpty());
  EXPECT_THAT(violated(workload_->check(rows_, 1)), UnorderedElementsAreArray({"records"}));
}

}  // namespace
}  // namespace mneme
