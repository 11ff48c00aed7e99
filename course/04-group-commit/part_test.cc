// Goal: a group is sent when it is full, awaited, or old enough, and not before. Method: made-up groups and
// flushes of made-up lengths; then a device in a simulation, whose clock is a number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "course/grading.h"
#include "logging/commit/flush_pace.h"

namespace mneme::course {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr nanoseconds kAtOnce{0};

// A time as a failure prints it.
std::string shown(nanoseconds time) {
  return time == FlushPace::kUntilFlushEnds ? "kUntilFlushEnds"
                                            : fmt::format("{} us", static_cast<double>(time.count()) / 1000);
}

// A group with a bound of each kind, and what has gathered below all of them.
constexpr GroupCommit kGroup{.interval = 250us, .bytes = 1000, .records = 10};
constexpr Gathering kFew{.bytes = 999, .records = 9, .is_in_flight = true, .since_sending = 1us};

TEST(FlushPace, RecordsGatherWhileAFlushIsInFlight) {
  EXPECT_EQ(shown(FlushPace(kGroup).left(kFew)), shown(FlushPace::kUntilFlushEnds)) << broken(
      "Records gather while a flush is in flight, until it ends (kUntilFlushEnds), unless the group is full.",
      "Nothing is lost, but each record gets a flush of its own: the device does one thing after the other, "
      "and a queue of small flushes grows in front of it.");
  Gathering old = kFew;
  old.since_sending = 10ms;
  EXPECT_EQ(shown(FlushPace(kGroup).left(old)), shown(FlushPace::kUntilFlushEnds)) << broken(
      "Records gather while a flush is in flight, also when the interval is over.",
      "Nothing is lost. A slow flush is answered by more small flushes, just when the device is slow.");
}

TEST(FlushPace, AFullGroupIsSentAtOnce) {
  Gathering bytes = kFew;
  bytes.bytes = 1000;
  EXPECT_EQ(shown(FlushPace(kGroup).left(bytes)), shown(kAtOnce)) << broken(
      "A group of as many bytes as the bound is sent at once, even while a flush is in flight.",
      "Nothing is lost, but the ring fills up, and all workers wait for a flusher that waits for nothing.");
  Gathering records = kFew;
  records.records = 10;
  EXPECT_EQ(shown(FlushPace(kGroup).left(records)), shown(kAtOnce)) << broken(
      "A group of as many records as the bound is sent at once.", "Nothing is lost, but answers are late.");
}

TEST(FlushPace, NoBoundOnRecordsMeansNone) {
  const FlushPace pace({.interval = 250us, .bytes = 1000});
  EXPECT_EQ(shown(pace.left(kFew)), shown(FlushPace::kUntilFlushEnds))
      << broken("`records = 0` in a group means that records are not counted, not that none is enough.",
                "Nothing is lost, but no group ever gathers.");
}

TEST(FlushPace, AThreadThatWaitsHurries) {
  Gathering awaited = kFew;
  awaited.is_awaited = true;
  EXPECT_EQ(shown(FlushPace(kGroup).left(awaited)), shown(kAtOnce))
      << broken("A group that a thread waits for is sent at once.",
                "Nothing is lost, but a synchronous commit on an idle machine takes the whole interval.");
  GroupCommit patient = kGroup;
  patient.waiters_hurry = false;
  EXPECT_EQ(shown(FlushPace(patient).left(awaited)), shown(FlushPace::kUntilFlushEnds)) << broken(
      "Where the group says so (waiters_hurry = false), a thread that waits for one record waits for its "
      "group.",
      "Nothing is lost, but `--commit group` would be `--commit sync`.");
}

TEST(FlushPace, TheLastGroupIsSentAtOnce) {
  Gathering last = kFew;
  last.is_closing = true;
  EXPECT_EQ(shown(FlushPace(kGroup).left(last)), shown(kAtOnce))
      << broken("When the log is being closed, what has gathered is sent: no more will come.",
                "Nothing is lost, but closing waits for a flush or an interval that nobody needs.");
}

TEST(FlushPace, AnIdleDeviceGetsAGroupOnceTheIntervalIsOver) {
  const FlushPace pace({.interval = 250us, .bytes = 1000});
  EXPECT_EQ(shown(pace.left({.bytes = 1, .since_sending = 100us})), shown(150us)) << broken(
      "The interval runs from one sending to the next: 100 of 250 microseconds have passed, so 150 are left.",
      "Nothing is lost, but records wait longer than they were promised to.");
  EXPECT_EQ(shown(pace.left({.bytes = 1, .since_sending = 250us})), shown(kAtOnce))
      << broken("Once the interval is over the group is sent.", "Nothing is lost, but records wait.");
  EXPECT_EQ(shown(pace.left({.bytes = 1, .since_sending = 10s})), shown(kAtOnce))
      << broken("What is left is never negative.",
                "Nothing may be lost, or the log stands still, as the caller takes it: a negative time is a "
                "very long one to some system calls.");
}

TEST(FlushPace, TheFirstGroupIsSentAtOnce) {
  EXPECT_EQ(shown(FlushPace({.interval = 250us, .bytes = 1000}).left({.bytes = 1})), shown(kAtOnce))
      << broken("Before the first sending there is nothing to rest from.",
                "Nothing is lost, but the first client waits for an interval that nobody began.");
}

TEST(FlushPace, WithoutAnIntervalAnIdleDeviceIsNeverKeptWaiting) {
  EXPECT_EQ(shown(FlushPace({.bytes = 1000}).left({.bytes = 1, .since_sending = 1ns})), shown(kAtOnce))
      << broken("With no interval the next flush begins when the last one ends.",
                "Nothing is lost, but records wait in vain.");
}

nanoseconds interval_after(const GroupCommit& group, const std::vector<nanoseconds>& flushes) {
  FlushPace pace(group);
  for (const nanoseconds each : flushes) pace.flushed(each);
  return pace.interval();
}

TEST(FlushPace, TheIntervalFollowsTheFlushes) {
  const GroupCommit group{.interval = 250us, .rests = 4};
  EXPECT_EQ(shown(FlushPace(group).interval()), shown(250us))
      << broken("Before the first flush the interval is the group's.",
                "Nothing is lost, but the first records wait too long or too short a time.");
  EXPECT_NE(shown(interval_after(group, {100us})), shown(650us)) << broken(
      "The interval is the longer of the two, the group's and the pace, not their sum: of 250 and 400 "
      "microseconds it is 400.",
      "Nothing is lost, but records wait for both.");
  EXPECT_EQ(shown(interval_after(group, {100us})), shown(400us))
      << broken("The first flush is the mean: four rests of 100 microseconds are 400.",
                "Nothing is lost, but the pace begins wrong.");
  EXPECT_EQ(shown(interval_after(group, std::vector<nanoseconds>(1000, 100us))), shown(400us))
      << broken("The interval is `rests` times the mean flush.",
                "Nothing is lost, but a slow device gets more than it can bear.");
  EXPECT_EQ(shown(interval_after(group, std::vector<nanoseconds>(1000, 20us))), shown(250us)) << broken(
      "The interval is never shorter than the group's.", "Nothing is lost, but flushes cost processor time.");
  std::vector<nanoseconds> slower(1000, 100us);
  slower.insert(slower.end(), 500, 200us);
  const nanoseconds interval = interval_after(group, slower);
  EXPECT_TRUE(interval > 790us && interval <= 800us)
      << broken("The mean follows: after 500 flushes of twice the length it is nearly twice as long.",
                "Nothing is lost, but a device that has become slow gets the pace of a fast one.");
}

TEST(FlushPace, TheIntervalIsBounded) {
  const GroupCommit group{.interval = 250us, .rests = 4};
  EXPECT_EQ(shown(interval_after(group, std::vector<nanoseconds>(1000, 10ms))), shown(FlushPace::kLongest))
      << broken("A paced interval is at most kLongest.",
                "Nothing is lost, but answers would wait for 40 ms on a slow disk.");
  EXPECT_EQ(shown(interval_after({.interval = 10ms, .rests = 4}, std::vector<nanoseconds>(1000, 1ms))),
            shown(10ms))
      << broken("kLongest bounds the pace, not the interval that somebody has asked for.",
                "No data is lost, but the user's choice is: the program answers for another interval than "
                "was asked for.");
  EXPECT_EQ(shown(interval_after({.interval = 10ms}, std::vector<nanoseconds>(1000, 1ms))), shown(10ms))
      << broken("With no rests the interval is the group's.",
                "No data is lost, but the user's choice is: the program answers for another interval than "
                "was asked for.");
}

TEST(FlushPace, OneStallSaysLittle) {
  std::vector<nanoseconds> flushes(1000, 100us);
  flushes.push_back(40ms);
  EXPECT_LT(interval_after({.interval = 250us, .rests = 4}, flushes).count(), nanoseconds(550us).count())
      << broken(
             "One stall says little of the next flush: it counts as kLongest at most, and for 1/64 of the "
             "mean.",
             "Nothing is lost, but after each stall of a disk hundreds of groups are late.");
}

// What became of records that came at random.
struct Outcome {
  size_t flushes = 0;
  nanoseconds longest_wait{0};  // from a record's coming to the end of its flush
};

// A device that takes `flush` for each flush, one at a time, and a flusher that asks the part what to do.
Outcome simulate(const GroupCommit& group, nanoseconds flush, nanoseconds between_records, size_t records) {
  FlushPace pace(group);
  std::mt19937_64 random(7);
  std::vector<nanoseconds> arrivals;
  nanoseconds at{0};
  for (size_t i = 0; i < records; ++i) {
    at += nanoseconds(random() % static_cast<uint64_t>(2 * between_records.count()));
    arrivals.push_back(at);
  }
  Outcome outcome;
  nanoseconds now{0};
  size_t sent = 0;
  std::optional<nanoseconds> last_sending;
  // Two flushes can be in flight only if a group is full, which none is here.
  while (sent < records && outcome.flushes <= records) {
    now = std::max(now, arrivals[sent]);
    while (true) {
      const size_t come = static_cast<size_t>(std::ranges::upper_bound(arrivals, now) - arrivals.begin());
      Gathering gathering{.bytes = 40 * (come - sent), .records = come - sent};
      if (last_sending) gathering.since_sending = now - *last_sending;
      const nanoseconds left = pace.left(gathering);
      if (left <= kAtOnce) break;
      now += left;
    }
    last_sending = now;
    while (sent < records && arrivals[sent] <= now) {
      outcome.longest_wait = std::max(outcome.longest_wait, now + flush - arrivals[sent]);
      ++sent;
    }
    ++outcome.flushes;
    now += flush;
    pace.flushed(flush);
  }
  return outcome;
}

void expect_within(size_t flushes, size_t least, size_t most, const std::string& rule) {
  EXPECT_GE(flushes, least) << rule;
  EXPECT_LE(flushes, most) << rule;
}

TEST(FlushPace, ADeviceInASimulationGetsGroups) {
  // 20,000 records a second, on a device that takes half a millisecond for a flush.
  const Outcome greedy = simulate({.bytes = 1 << 20}, 500us, 50us, 20000);
  EXPECT_LE(greedy.longest_wait.count(), nanoseconds(1000us).count())
      << broken("Greedy, a record waits for less than two flushes: the one in flight, and its own.",
                "Nothing is lost, but answers are late.");
  const char* often =
      "Nothing is lost, but too many flushes take processor time, and too few make answers late.";
  expect_within(greedy.flushes, 1500, 2100,
                broken("Greedy, the device is never idle while there is something to write: some 2,000 "
                       "flushes in this second.",
                       often));
  const Outcome resting = simulate({.interval = 4ms, .bytes = 1 << 20}, 500us, 50us, 20000);
  EXPECT_LE(resting.longest_wait.count(), nanoseconds(4500us).count())
      << broken("With an interval a record waits for the interval and its own flush at most.",
                "Nothing is lost, but answers are late.");
  expect_within(resting.flushes, 200, 300,
                broken("With an interval of 4 ms there are some 250 flushes in this second.", often));
  const Outcome paced = simulate({.interval = 250us, .bytes = 1 << 20, .rests = 4}, 500us, 50us, 20000);
  expect_within(paced.flushes, 450, 600,
                broken("left() goes by interval(), the paced one, not by the group's alone: with four rests "
                       "of half a millisecond there are some 500 flushes in this second.",
                       often));
}

}  // namespace
}  // namespace mneme::course
