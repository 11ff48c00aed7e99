// Goal: a prefix of the log that the flusher may take has no hole, and is as long as it can be. Method: by
// hand, and in every order of the workers' and the flusher's atomic steps that departs from the simplest few
// times: the part is compiled over atomics whose steps a scheduler puts off (tests/interleaving).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "course/grading.h"
#include "logging/buffer/watermark_buffer.h"
#include "tests/interleaving/scheduler.h"

namespace mneme::course {
namespace {

using interleaving::Exploration;
using interleaving::explore;
using interleaving::Scenario;

constexpr uint64_t kBegin = 64;
constexpr size_t kBytes = 40;
constexpr int kLooks = 3;
// So many known mistakes need: a worker that is held up twice, and a flusher that looks in between.
constexpr uint32_t kDepartures = 3;

LogBufferOptions options_for(uint32_t workers) {
  return {
      .workers = workers, .ring_bytes = 4096, .largest_record_bytes = 400, .begin = StreamPosition{kBegin}};
}

// What a run of the scenario is examined for: one rule at a time.
enum class Rule { kPlaces, kNoHole, kNeverFalls, kBoundary, kAllInTheEnd };

// Two workers that write a record or two each, while the flusher looks a few times.
class WriteAndLook : public Scenario {
 public:
  WriteAndLook(Rule rule, uint32_t records)
      : rule_(rule), records_(records), buffer_(std::make_unique<WatermarkBuffer>(options_for(2))) {}

  std::vector<std::function<void()>> threads() override {
    return {[this] { work(WorkerId{0}); }, [this] { work(WorkerId{1}); }, [this] { look(); }};
  }

  void examine() override {
    const uint64_t end = kBegin + 2 * records_ * kBytes;
    if (rule_ == Rule::kPlaces) {
      std::vector<uint64_t> places;
      for (const Place& each : places_) places.push_back(each.at);
      std::ranges::sort(places);
      for (size_t i = 0; i < places.size(); ++i) {
        if (places[i] != kBegin + i * kBytes) fails();
      }
    }
    if (rule_ == Rule::kAllInTheEnd) {
      const StreamPosition prefix = buffer_->contiguous_prefix();
      tell(fmt::format("the flusher's last look finds {}", prefix.value));
      if (prefix.value != end) fails();
    }
  }

 private:
  struct Place {
    uint64_t at;
    bool is_written;
  };

  void work(WorkerId worker) {
    for (uint32_t i = 0; i < records_; ++i) {
      tell(fmt::format("worker {} begins to reserve", worker.value));
      const uint64_t at = buffer_->reserve(worker, kBytes).value;
      const size_t mine = places_.size();
      places_.push_back({at, false});
      tell(fmt::format("worker {} has {}", worker.value, at));
      interleaving::step(interleaving::Step::kRead);  // others may go on before the record is written
      places_[mine].is_written = true;
      tell(fmt::format("worker {} has written", worker.value));
      buffer_->publish(worker, StreamPosition{at}, kBytes);
      tell(fmt::format("worker {} has published", worker.value));
    }
  }

  void look() {
    uint64_t before = kBegin;
    for (int i = 0; i < kLooks; ++i) {
      tell("the flusher begins to look");
      const uint64_t prefix = buffer_->contiguous_prefix().value;
      tell(fmt::format("the flusher has {}", prefix));
      if (rule_ == Rule::kBoundary && (prefix - kBegin) % kBytes != 0) fails();
      if (rule_ == Rule::kNeverFalls && prefix < before) fails();
      before = prefix;
      if (rule_ != Rule::kNoHole) continue;
      // What was drawn below, which may not even have returned yet, is written.
      uint64_t written = 0;
      for (const Place& each : places_) written += each.at < prefix && each.is_written ? kBytes : 0;
      if (written < prefix - kBegin) fails();
    }
  }

  void tell(const std::string& what) { story_ += (story_.empty() ? "" : "; ") + what; }
  void fails() { violated(story_ + "."); }

  const Rule rule_;
  const uint32_t records_;
  const std::unique_ptr<WatermarkBuffer> buffer_;
  std::vector<Place> places_;
  std::string story_;
};

// Explores the scenario, and grades by what it is examined for.
void expect_always(Rule rule, uint32_t records, const std::string& broken_rule) {
  const Exploration exploration = explore([&] { return std::make_unique<WriteAndLook>(rule, records); },
                                          records == 1 ? kDepartures : 2, 100'000);
  if (exploration.violation) ADD_FAILURE() << broken_rule << "\nOne way there: " << *exploration.violation;
}

TEST(LogBuffer, EachRecordHasAPlaceOfItsOwn) {
  expect_always(
      Rule::kPlaces, 1,
      broken("Each record has a place of its own, and there is no gap between two: a place is drawn "
             "in one step.",
             "Two workers write their records over each other. Both are acknowledged, and one is "
             "nowhere."));
}

TEST(LogBuffer, NothingBelowThePrefixIsUnwritten) {
  expect_always(
      Rule::kNoHole, 1,
      broken("Nothing below the prefix is unwritten, in whichever order the workers and the flusher "
             "take their steps.",
             "The flusher writes bytes that no worker has written yet, old ones of the ring, and says "
             "that they are durable. Recovery finds no record there, and all that is behind is lost."));
}

TEST(LogBuffer, ThePrefixStopsAtTheOldestHole) {
  WatermarkBuffer buffer(options_for(3));
  const StreamPosition first = buffer.reserve(WorkerId{0}, 100);
  const StreamPosition second = buffer.reserve(WorkerId{1}, 50);
  const StreamPosition third = buffer.reserve(WorkerId{2}, 10);
  buffer.publish(WorkerId{2}, third, 10);
  EXPECT_EQ(buffer.contiguous_prefix().value, 64u) << broken(
      "The prefix stops at the oldest hole. Here records were reserved at 64, 164 and 214, and the one at "
      "214 "
      "alone is published: a worker's publish() takes back its own bound, and no other.",
      "The flusher writes two places that nobody has written, and everything behind them is lost.");
  buffer.publish(WorkerId{0}, first, 100);
  EXPECT_EQ(buffer.contiguous_prefix().value, 164u) << broken(
      "The prefix stops at the oldest hole. Here the records at 64 and 214 are published, and the one at 164 "
      "is not.",
      "If it lies higher, a hole goes to the disk. If it lies lower, a record that is whole waits for one "
      "behind it.");
  buffer.publish(WorkerId{1}, second, 50);
  EXPECT_EQ(buffer.contiguous_prefix().value, 224u)
      << broken("Once all that was reserved is published, the prefix is the end of the last one.",
                "Nothing is lost, but records wait, and at last the ring is full.");
}

TEST(LogBuffer, AWorkerHoldsBackNothingBeforeItsRecord) {
  WatermarkBuffer buffer(options_for(2));
  for (int i = 0; i < 5; ++i) {
    const StreamPosition at = buffer.reserve(WorkerId{0}, kBytes);
    buffer.publish(WorkerId{0}, at, kBytes);
  }
  buffer.reserve(WorkerId{1}, kBytes);
  EXPECT_EQ(buffer.contiguous_prefix().value, kBegin + 5 * kBytes) << broken(
      "A worker that is at work holds back its own record and what comes behind, and nothing before: its "
      "bound "
      "is the tail as it was just before the draw. Here five records are published, and a sixth is reserved.",
      "Nothing is lost. But as long as some worker is at work, which is nearly always, the log stands still, "
      "the ring fills up, and all wait.");
}

TEST(LogBuffer, ThePrefixLiesBetweenRecords) {
  expect_always(
      Rule::kBoundary, 1,
      broken("The prefix lies between two records: here at 64, 104 or 144.",
             "The flusher cuts a record in two. It reads the length of the next one from the middle "
             "of something else."));
}

TEST(LogBuffer, ThePrefixNeverFalls) {
  expect_always(
      Rule::kNeverFalls, 1,
      broken("The prefix never falls. A worker may publish an old value of the tail as its bound, as "
             "it was held up between the two; what was found whole before stays whole.",
             "The flusher would take records a second time, or stop the program, as it finds an end "
             "that lies before its beginning."));
}

TEST(LogBuffer, InTheEndAllIsTaken) {
  expect_always(
      Rule::kAllInTheEnd, 2,
      broken("Once every worker has published, and none is at work, the prefix is the tail.",
             "Nothing is lost, but the last records are never written: their clients wait for ever."));
}

TEST(LogBuffer, TheFlusherRestsOnlyIfNothingIsReserved) {
  WatermarkBuffer buffer(options_for(2));
  EXPECT_TRUE(buffer.quiescent(StreamPosition{kBegin}))
      << broken("quiescent(64) is true while nothing was ever reserved past 64.",
                "Nothing is lost, but the flusher never sleeps.");
  const StreamPosition at = buffer.reserve(WorkerId{0}, kBytes);
  EXPECT_FALSE(buffer.quiescent(StreamPosition{kBegin})) << broken(
      "quiescent(upto) asks for what is reserved, not for what is published: here a record is reserved at "
      "64.",
      "The flusher goes to sleep while a worker writes. That worker has seen it awake, so it wakes nobody, "
      "and "
      "its client waits until another one comes.");
  buffer.publish(WorkerId{0}, at, kBytes);
  EXPECT_TRUE(buffer.quiescent(StreamPosition{kBegin + kBytes}))
      << broken("quiescent(104) is true once the record before 104 is the last that was reserved.",
                "Nothing is lost, but the flusher never sleeps.");
}

}  // namespace
}  // namespace mneme::course
