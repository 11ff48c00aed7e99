// Goal: the history's judgement is right, so that its silence about the engine means something. Method: the
// anomalies that have names, a few steps each, and histories that are serializable though they look
// otherwise.
#include "tests/isolation/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mneme::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint32_t kX = 1;
constexpr uint32_t kY = 2;

History history(std::vector<HistoryTransaction> transactions) {
  History made;
  for (HistoryTransaction& each : transactions) made.add(std::move(each));
  return made;
}

TEST(History, OneAfterTheOtherIsSerializable) {
  EXPECT_THAT(history({{.name = "A", .reads = {{kX, 0}}, .writes = {{kX, 1}}},
                       {.name = "B", .reads = {{kX, 1}, {kY, 0}}, .writes = {{kX, 2}, {kX, 3}}},
                       {.name = "C", .reads = {{kX, 3}, {kY, 0}}}})
                  .fault(),
              IsEmpty());
}

// A reads before B writes, and ends after it.
TEST(History, AnOldReaderHasAPlaceBeforeTheWriter) {
  EXPECT_THAT(
      history({{.name = "B", .writes = {{kX, 1}, {kY, 1}}}, {.name = "A", .reads = {{kX, 0}, {kY, 0}}}})
          .fault(),
      IsEmpty());
}

TEST(History, FindsALostUpdate) {
  EXPECT_THAT(history({{.name = "A", .reads = {{kX, 0}}, .writes = {{kX, 1}}},
                       {.name = "B", .reads = {{kX, 0}}, .writes = {{kX, 1}}}})
                  .fault(),
              HasSubstr("lost update"));
}

TEST(History, FindsWriteSkew) {
  EXPECT_THAT(history({{.name = "A", .reads = {{kX, 0}, {kY, 0}}, .writes = {{kX, 1}}},
                       {.name = "B", .reads = {{kX, 0}, {kY, 0}}, .writes = {{kY, 1}}}})
                  .fault(),
              HasSubstr("a cycle of 2"));
}

TEST(History, FindsReadSkew) {
  EXPECT_THAT(
      history({{.name = "A", .reads = {{kX, 0}, {kY, 1}}}, {.name = "B", .writes = {{kX, 1}, {kY, 1}}}})
          .fault(),
      HasSubstr("a cycle of 2"));
}

// Fekete's: two writers alone would have an order, and the reader sees the second without the first.
TEST(History, FindsAReaderThatMakesTheCycle) {
  EXPECT_THAT(history({{.name = "withdrawal", .reads = {{kX, 0}, {kY, 0}}, .writes = {{kX, 1}}},
                       {.name = "deposit", .reads = {{kY, 0}}, .writes = {{kY, 1}}},
                       {.name = "report", .reads = {{kX, 0}, {kY, 1}}}})
                  .fault(),
              HasSubstr("a cycle of 3"));
}

TEST(History, FindsReadsOfWhatNeverWas) {
  EXPECT_THAT(history({{.name = "A", .reads = {{kX, 1}}}}).fault(), HasSubstr("nobody who committed"));
  EXPECT_THAT(history({{.name = "A", .writes = {{kX, 2}}}}).fault(), HasSubstr("wrote the version before"));
  EXPECT_THAT(
      history({{.name = "A", .writes = {{kX, 1}, {kX, 2}}}, {.name = "B", .reads = {{kX, 1}}}}).fault(),
      HasSubstr("replaced itself"));
}

TEST(History, FindsPlacesThatTheDependenciesContradict) {
  const History right = history({{.name = "A", .writes = {{kX, 1}}, .place = 10},
                                 {.name = "B", .reads = {{kX, 1}}, .writes = {{kX, 2}}, .place = 20}});
  EXPECT_THAT(right.fault_of_places(), IsEmpty());
  const History wrong = history({{.name = "A", .writes = {{kX, 1}}, .place = 20},
                                 {.name = "B", .reads = {{kX, 1}}, .writes = {{kX, 2}}, .place = 10}});
  EXPECT_THAT(wrong.fault(), IsEmpty());
  EXPECT_THAT(wrong.fault_of_places(), HasSubstr("claims place 20"));
}

}  // namespace
}  // namespace mneme::test
