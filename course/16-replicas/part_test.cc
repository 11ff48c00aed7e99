// Goal: of several engines that take themselves for a database's, one writes its log, and what it was
// promised stays. Method: two engines, A and B, that claim, create and write in turns; then many in random
// turns, held against a model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "course/grading.h"
#include "network/log_store.h"

namespace mneme::course {
namespace {

using Reason = RefusedMessage::Reason;

constexpr uint64_t kA = 0xa;
constexpr uint64_t kB = 0xb;
constexpr uint64_t kMost = 1000;

std::string shown(const LogStore::Refusal& refusal) {
  if (!refusal) return "done";
  switch (refusal->reason) {
    case Reason::kOlderTerm:
      return "refused: an older term";
    case Reason::kNotAllowed:
      return "refused: not allowed";
    case Reason::kNoMemory:
      return "refused: no memory";
    case Reason::kNoSuchFile:
      return "refused: no such file";
    default:
      return "refused for another reason";
  }
}

class Store : public testing::Test {
 protected:
  std::string claim(uint32_t number, uint64_t owner) { return shown(log_.claim({number, owner})); }
  std::string create(LogTerm by, uint32_t file, uint64_t bytes) {
    return shown(log_.create(by, {file, bytes}, kMost));
  }
  std::string write(LogTerm by, uint32_t file, uint64_t offset, const std::string& text) {
    return shown(log_.write(by, {file, offset, as_bytes(text)}));
  }
  std::string close(LogTerm by, uint32_t file) { return shown(log_.close(by, {file})); }
  // With a dot for each byte that is zero.
  std::string read(uint32_t file, uint64_t offset = 0, uint32_t bytes = 1000) const {
    const std::optional<ByteSpan> found = log_.read({file, offset, bytes});
    if (!found) return "no such file";
    std::string text(as_text(*found));
    std::ranges::replace(text, '\0', '.');
    return text;
  }
  std::string term() const { return fmt::format("term {} of {:x}", log_.term().number, log_.term().owner); }
  uint64_t end_of(uint32_t file) const {
    const auto found = log_.files().find(file);
    return found == log_.files().end() ? 0 : found->second.end;
  }

  LogStore log_;
};

constexpr const char* kTwoWrite =
    "Two engines write one log. Each tells its clients that their transactions are durable, and one of the "
    "two is "
    "wrong.";
constexpr const char* kGone =
    "Transactions that were acknowledged are gone, though a machine still had them.";
constexpr const char* kStuck =
    "An engine that has done nothing wrong is refused, and the database does not come up.";
constexpr const char* kMixed =
    "Bytes of two lives of the database stand in one file, and recovery takes the mixture for a log.";

TEST_F(Store, TheOwnerWritesAndAllRead) {
  EXPECT_EQ(claim(1, kA), "done") << broken("The first engine to claim a term gets it.", kStuck);
  EXPECT_EQ(create({1, kA}, 7, 10), "done") << broken("The owner of the term makes files.", kStuck);
  EXPECT_EQ(write({1, kA}, 7, 2, "abc"), "done")
      << broken("The owner of the term writes, at any place.", kStuck);
  EXPECT_EQ(read(7), "..abc.....") << broken(
      "Bytes that were written are where they were written, and all others are zeros.", kGone);
}

TEST_F(Store, ADeposedEngineWritesNoMore) {
  claim(1, kA);
  create({1, kA}, 7, 10);
  write({1, kA}, 7, 0, "abc");
  EXPECT_EQ(claim(2, kB), "done") << broken("The first engine to claim a higher term gets it.", kStuck);
  EXPECT_EQ(write({1, kA}, 7, 3, "def"), "refused: an older term")
      << broken("An engine whose term is over writes no more.", kTwoWrite);
  EXPECT_EQ(read(7), "abc.......") << broken("What was refused has changed nothing.", kTwoWrite);
  EXPECT_EQ(create({1, kA}, 8, 10), "refused: an older term")
      << broken("An engine whose term is over makes no file.", kTwoWrite);
  EXPECT_EQ(close({1, kA}, 7), "refused: an older term")
      << broken("An engine whose term is over removes nothing: its checkpoint is of another history.", kGone);
  EXPECT_EQ(shown(log_.set_whole({1, kA})), "refused: an older term")
      << broken("An engine whose term is over says nothing of the log any more.", kGone);
}

TEST_F(Store, TheTermNeverFalls) {
  claim(5, kA);
  EXPECT_EQ(claim(4, kB), "refused: an older term")
      << broken("A term below the highest is refused.", kTwoWrite);
  EXPECT_EQ(term(), "term 5 of a") << broken("A claim that is refused changes nothing.", kTwoWrite);
}

TEST_F(Store, ATermHasOneOwner) {
  claim(5, kA);
  EXPECT_EQ(claim(5, kB), "refused: an older term") << broken(
      "Two engines may claim the same number, as each adds one to what it has seen. The first gets it.",
      kTwoWrite);
  EXPECT_EQ(claim(5, kA), "done") << broken(
      "The owner may claim its term again: its connection was lost, and it does not know whether the first "
      "claim arrived.",
      kStuck);
  EXPECT_EQ(create({5, kB}, 7, 10), "refused: an older term")
      << broken("The right number is not enough: only the term's owner writes.", kTwoWrite);
}

TEST_F(Store, TheNextOwnerReadsWhatIsThere) {
  claim(1, kA);
  create({1, kA}, 7, 6);
  write({1, kA}, 7, 0, "abc");
  claim(2, kB);
  EXPECT_EQ(read(7), "abc...") << broken(
      "A claim changes no byte: the next owner reads the log first, and goes on where it ends.", kGone);
  EXPECT_EQ(write({2, kB}, 7, 3, "def"), "refused: no such file") << broken(
      "The files of a former term are for reading: a new term writes into files that it has made.", kMixed);
}

TEST_F(Store, AnOlderFileGivesWay) {
  claim(1, kA);
  create({1, kA}, 7, 6);
  write({1, kA}, 7, 0, "abc");
  claim(2, kB);
  EXPECT_EQ(create({2, kB}, 7, 6), "done")
      << broken("A file of an older term gives way to one of its number.", kStuck);
  EXPECT_EQ(read(7), "......") << broken(
      "A file that is made anew is all zeros, also where the one before had bytes.", kMixed);
  EXPECT_EQ(end_of(7), 0u) << broken("A file that is made anew ends at its begin.", kMixed);
}

TEST_F(Store, ToCreateTwiceIsToCreateOnce) {
  claim(1, kA);
  create({1, kA}, 7, 6);
  write({1, kA}, 7, 0, "abc");
  EXPECT_EQ(create({1, kA}, 7, 6), "done") << broken(
      "A file that is there already, of this term and size, may be asked for again, after a lost connection.",
      kStuck);
  EXPECT_EQ(read(7), "abc...") << broken("Such a file stays as it is.", kGone);
}

TEST_F(Store, AFileOfAnotherSizeGivesWay) {
  claim(1, kA);
  create({1, kA}, 7, 6);
  write({1, kA}, 7, 0, "abc");
  EXPECT_EQ(create({1, kA}, 7, 8), "done")
      << broken("The owner makes a file anew, with another size.", kStuck);
  EXPECT_EQ(read(7), "........") << broken(
      "A file of this number and of another size gives way, also if this term has made it.", kStuck);
}

TEST_F(Store, TheEndIsBehindTheLastByte) {
  claim(1, kA);
  create({1, kA}, 7, 10);
  write({1, kA}, 7, 4, "ef");
  write({1, kA}, 7, 0, "ab");
  EXPECT_EQ(end_of(7), 6u) << broken(
      "A file's end is behind the highest byte that was ever written: writes come in any order.", kGone);
  EXPECT_EQ(write({1, kA}, 7, 9, ""), "done") << broken("A write of nothing is done.", kStuck);
  EXPECT_EQ(end_of(7), 6u) << broken("A write of nothing moves no end.", kMixed);
}

TEST_F(Store, NothingReachesPastAFile) {
  claim(1, kA);
  create({1, kA}, 7, 4);
  const char* rule = "What reaches past the file is refused, and no byte of it is written.";
  const char* over =
      "What reaches past the file is refused, also where offset and length together run over 64 bits.";
  EXPECT_EQ(write({1, kA}, 7, 2, "abc"), "refused: not allowed")
      << broken(rule, "The server writes into other memory.");
  EXPECT_EQ(write({1, kA}, 7, 5, ""), "refused: not allowed")
      << broken(rule, "The server writes into other memory.");
  const char* other_memory = "A client that lies makes the server write into other memory.";
  at_stake(over, other_memory);
  EXPECT_EQ(write({1, kA}, 7, std::numeric_limits<uint64_t>::max(), "ab"), "refused: not allowed")
      << broken(over, other_memory);
  EXPECT_EQ(read(7), "....") << broken(rule, kMixed);
}

TEST_F(Store, ReadingEndsWithTheFile) {
  claim(1, kA);
  create({1, kA}, 7, 4);
  write({1, kA}, 7, 0, "abcd");
  EXPECT_EQ(read(8), "no such file") << broken("A file that isn't there is not an empty one.", kGone);
  EXPECT_EQ(read(7, 2, 10), "cd") << broken("To read past the end gives fewer bytes.",
                                            "The server reads other memory.");
  EXPECT_EQ(read(7, 9, 10), "") << broken("To read behind the end gives none.",
                                          "The server reads other memory.");
}

TEST_F(Store, MemoryIsBounded) {
  claim(1, kA);
  EXPECT_EQ(create({1, kA}, 1, 0), "refused: no memory")
      << broken("A file without bytes is refused.", kStuck);
  EXPECT_EQ(create({1, kA}, 1, kMost + 1), "refused: no memory")
      << broken("All files together take no more than they may.", "One engine takes the memory of all.");
  EXPECT_EQ(create({1, kA}, 1, 600), "done") << broken("What there is room for is made.", kStuck);
  EXPECT_EQ(create({1, kA}, 2, 600), "refused: no memory")
      << broken("All files together take no more than they may.", "One engine takes the memory of all.");
  EXPECT_EQ(create({1, kA}, 1, 900), "done")
      << broken("A file that gives way takes no room beside the one that comes.", kStuck);
  EXPECT_EQ(log_.bytes(), 900u) << broken("bytes() is what all files take.",
                                          "One engine takes the memory of all.");
  close({1, kA}, 1);
  EXPECT_EQ(create({1, kA}, 2, 1000), "done") << broken(
      "A file that was closed takes no room.", "After some checkpoints no engine finds room any more.");
  EXPECT_EQ(close({1, kA}, 99), "done")
      << broken("To close what isn't there is done: the message may come twice.", kStuck);
}

TEST_F(Store, WholeIsWhatTheOwnerSaid) {
  claim(1, kA);
  EXPECT_EQ(log_.whole_term(), 0u) << broken("A log is not whole until its owner says so.", kGone);
  EXPECT_EQ(shown(log_.set_whole({1, kA})), "done")
      << broken("The owner says that its log is whole.", kStuck);
  claim(2, kB);
  EXPECT_EQ(log_.whole_term(), 1u) << broken(
      "A claim leaves whole_term() as it was: the log of term 1 is here, whole, and the owner of term 2 has "
      "not said so of its own.",
      kGone);
  EXPECT_EQ(log_.list().whole_term, 1u) << broken("list() says it, too.", kGone);
}

TEST_F(Store, WhatWasNeverWrittenMayGo) {
  claim(1, kA);
  create({1, kA}, 1, 100);
  create({1, kA}, 2, 100);
  EXPECT_FALSE(log_.has_content()) << broken("Files into which no byte was written have no content.", kStuck);
  log_.drop_unwritten();
  EXPECT_TRUE(log_.files().empty() && log_.bytes() == 0)
      << broken("drop_unwritten() removes all files, and bytes() is 0 then.",
                "A claim that was given up takes memory for ever.");
  create({1, kA}, 3, 100);
  write({1, kA}, 3, 50, "x");
  EXPECT_TRUE(log_.has_content()) << broken("One byte is content.", kGone);
}

// Several engines, each with a term that it takes for the newest. Only the owner of the highest one may
// succeed.
TEST_F(Store, OfManyEnginesOneWrites) {
  std::mt19937 random(1);
  std::vector<LogTerm> engines(4);
  LogTerm owner;
  std::map<uint64_t, char> written;
  for (uint32_t step = 0; step < 5000; ++step) {
    const size_t e = random() % engines.size();
    LogTerm& engine = engines[e];
    if (random() % 40 == 0) {
      engine = {std::max<uint32_t>(1, owner.number + random() % 3), 100 + e};
      const bool may = engine.number > owner.number || engine == owner;
      ASSERT_EQ(!log_.claim(engine), may)
          << broken("A claim succeeds if its number is higher, or the same and its owner's.", kTwoWrite);
      if (may && engine != owner) {
        owner = engine;
        written.clear();
        ASSERT_EQ(create(owner, 1, 100), "done") << broken("The owner makes its file.", kStuck);
      }
      continue;
    }
    const uint64_t at = random() % 100;
    const char byte = static_cast<char>('a' + random() % 26);
    const bool may = engine == owner && owner.number > 0;
    const std::string result = write(engine, 1, at, std::string(1, byte));
    if (engine.number == 0 && owner.number == 0) continue;
    ASSERT_EQ(result == "done", may) << broken("Only the owner of the highest term writes.", kTwoWrite);
    if (may) written[at] = byte;
    if (owner.number > 0 && !written.empty()) {
      std::string expected(100, '.');
      for (const auto& [place, value] : written) expected[place] = value;
      ASSERT_EQ(read(1), expected) << broken("What the owner has written is there, and nothing else.",
                                             kMixed);
    }
  }
}

}  // namespace
}  // namespace mneme::course
