// Goal: records of several streams come back in commit order, and a gap among them is seen. Method: small
// streams by hand, then a random log that is cut into streams, of which a record is taken away or doubled.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "course/grading.h"
#include "logging/reading/place_merge.h"

namespace mneme::course {
namespace {

using Records = std::vector<RecordView>;

Lsn lsn(uint64_t epoch, uint64_t place) {
  return begin_of(LogEpoch{epoch}) + place;
}
RecordView record(uint64_t epoch, uint64_t place) {
  return RecordView(lsn(epoch, place), RecordKind::kCommand, {});
}

// As epoch.place, in their order.
std::string shown(const std::optional<Records>& records) {
  if (!records) return "a gap";
  std::string text;
  for (const RecordView& each : *records) {
    text +=
        (text.empty() ? "" : " ") + fmt::format("{}.{}", epoch_of(each.lsn).value, place_in_epoch(each.lsn));
  }
  return text.empty() ? "nothing" : text;
}

std::string merged(const std::vector<Records>& streams, std::optional<Lsn> first = std::nullopt,
                   uint32_t threads = 1) {
  PlaceMerge merge;
  for (const Records& stream : streams) merge.add(stream);
  return shown(merge.merge(first, threads));
}

constexpr const char* kOrder =
    "Calls are run in another order than that in which they committed. Interest is paid before a deposit "
    "that "
    "came before it, and the balance is another.";
constexpr const char* kMissing =
    "A record that was durable is gone, and nobody says so: all that comes behind it is replayed on a state "
    "that never was.";
constexpr const char* kRefused = "A good log is refused: the database doesn't start.";

TEST(Merge, OneStreamStaysAsItIs) {
  EXPECT_EQ(merged({{record(1, 64), record(1, 65), record(2, 66)}}), "1.64 1.65 2.66")
      << broken("The records of one stream are in their order already.", kOrder);
}

TEST(Merge, RecordsOfTwoStreamsAreBroughtIntoOneOrder) {
  EXPECT_EQ(merged({{record(1, 64), record(1, 66), record(2, 68)}, {record(1, 65), record(1, 67)}}),
            "1.64 1.65 1.66 1.67 2.68")
      << broken("Records of two streams are brought into one order, that of their places.", kOrder);
}

TEST(Merge, AnEpochMayBeInAnyOrder) {
  EXPECT_EQ(merged({{record(1, 67), record(1, 64), record(2, 68)}, {record(1, 66), record(1, 65)}}),
            "1.64 1.65 1.66 1.67 2.68")
      << broken(
             "Within an epoch a stream's records are in any order: a logger takes them from several workers.",
             kOrder);
}

TEST(Merge, EpochsNeedNotFollowOneAnother) {
  EXPECT_EQ(merged({{record(1, 64), record(9, 66)}, {record(4, 65), record(9, 67)}}), "1.64 4.65 9.66 9.67")
      << broken("Epochs pass without a record, so their numbers need not follow one another; places do.",
                kRefused);
}

TEST(Merge, PlacesBeginAgain) {
  const uint64_t last = kPlacesPerEpoch - 1;
  EXPECT_EQ(merged({{record(1, last - 1), record(2, 0)}, {record(1, last), record(2, 1)}}),
            fmt::format("1.{} 1.{} 2.0 2.1", last - 1, last))
      << broken("Behind the last place comes place 0: they are counted modulo 2^24.", kRefused);
}

TEST(Merge, AMissingRecordIsAGap) {
  EXPECT_EQ(merged({{record(1, 64), record(1, 66)}, {record(1, 67)}}), "a gap")
      << broken("A record that is missing in the middle is a gap: here the one at place 65.", kMissing);
  EXPECT_EQ(merged({{record(1, 64)}, {record(2, 66)}}), "a gap") << broken(
      "A record that is missing at an epoch's end is a gap, too: here the one at place 65.", kMissing);
}

TEST(Merge, TheFirstRecordMayBeKnown) {
  EXPECT_EQ(merged({{record(1, 66)}, {record(1, 65)}}, lsn(1, 64)), "a gap") << broken(
      "If it is known where the log begins, a record that is missing there is a gap. Here it begins at "
      "place 64, and the first record is at 65.",
      kMissing);
  EXPECT_EQ(merged({{record(1, 66)}, {record(1, 65)}}, lsn(1, 65)), "1.65 1.66")
      << broken("If the first record is where the log begins, all is well.", kRefused);
  EXPECT_EQ(merged({{record(3, 66)}, {record(2, 65)}}, lsn(1, 65)), "2.65 3.66") << broken(
      "Only the place of the first record is known, not its epoch: epochs may have passed before it.",
      kRefused);
}

TEST(Merge, ElseItIsTheLowestThereIs) {
  EXPECT_EQ(merged({{record(1, 67), record(1, 66)}, {record(1, 68), record(1, 65)}}), "1.65 1.66 1.67 1.68")
      << broken("If it isn't known where the log begins, it begins with the lowest record of all streams.",
                kRefused);
}

TEST(Merge, APlaceIsTakenOnce) {
  EXPECT_EQ(merged({{record(1, 64), record(1, 65)}, {record(1, 65), record(1, 66)}}), "a gap")
      << broken("No place is taken twice: such a log isn't what was written.", "A call is run twice.");
  EXPECT_EQ(merged({{record(1, 64), record(1, 66)}, {record(2, 65)}}), "a gap") << broken(
      "Places rise from epoch to epoch. Here the record of epoch 2 has a place of epoch 1.", kOrder);
}

TEST(Merge, StreamsMayBeEmpty) {
  EXPECT_EQ(merged({{}, {record(1, 64)}, {}}), "1.64") << broken("A stream may have no record.", kRefused);
  EXPECT_EQ(merged({{}, {}}), "nothing")
      << broken("A log may have no record at all: that is no gap.", kRefused);
  EXPECT_EQ(merged({}), "nothing") << broken("A log may have no stream.", kRefused);
}

TEST(Merge, ARecordStaysWhatItIs) {
  PlaceMerge merge;
  merge.add({RecordView(lsn(1, 65), RecordKind::kLogical, as_bytes("rows"))});
  merge.add({RecordView(lsn(1, 64), RecordKind::kCommand, as_bytes("a call"))});
  EXPECT_EQ(merge.size(), 2u) << broken("size() is how many records were added.",
                                        "Recovery makes room for too few records.");
  const auto records = merge.merge(std::nullopt, 1);
  ASSERT_TRUE(records && records->size() == 2) << broken("All records come back.", kMissing);
  EXPECT_TRUE((*records)[0].kind == RecordKind::kCommand && as_text((*records)[0].payload) == "a call" &&
              (*records)[1].kind == RecordKind::kLogical && as_text((*records)[1].payload) == "rows")
      << broken("A record keeps its kind and its payload.", "Rows are taken for a call.");
}

TEST(Merge, RandomLogsComeBack) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    // The log as it was committed; it may run over the last place.
    Records log;
    Lsn next = lsn(1 + random() % 3, random() % 2 == 0 ? 64 : kPlacesPerEpoch - 20);
    const size_t size = 2 + random() % 60;
    while (log.size() < size) {
      log.push_back(RecordView(next, RecordKind::kCommand, {}));
      next = next + 1 + (random() % 8 == 0 ? kPlacesPerEpoch * (1 + random() % 3) : 0);
    }
    // Cut into streams, epoch by epoch, each epoch shuffled.
    const auto cut = [&](const Records& from) {
      std::vector<Records> streams(1 + random() % 4);
      for (size_t begin = 0; begin < from.size();) {
        size_t end = begin;
        while (end < from.size() && epoch_of(from[end].lsn) == epoch_of(from[begin].lsn)) ++end;
        Records epoch(from.begin() + static_cast<ptrdiff_t>(begin),
                      from.begin() + static_cast<ptrdiff_t>(end));
        std::ranges::shuffle(epoch, random);
        for (const RecordView& each : epoch) streams[random() % streams.size()].push_back(each);
        begin = end;
      }
      return streams;
    };
    ASSERT_EQ(merged(cut(log), log.front().lsn, 1 + seed % 3), shown(log))
        << broken("A log that was cut into streams comes back as it was.", kOrder);
    Records damaged = log;
    const auto at = damaged.begin() + static_cast<ptrdiff_t>(random() % (size - 1));
    if (random() % 2 == 0) {
      damaged.erase(at);
    } else {
      damaged.insert(at, *at);
    }
    ASSERT_EQ(merged(cut(damaged), log.front().lsn), "a gap") << broken(
        "A log of which a record before the last is missing, or is there twice, has a gap.", kMissing);
  }
}

}  // namespace
}  // namespace mneme::course
