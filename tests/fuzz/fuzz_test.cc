// Goal: no bytes from outside harm the program, wherever they come from. Method: each target (target.h) gets
// the inputs in corpus/, among them all that were once found to do harm, then mutations of them, always the
// same ones: five hundred, or as many as half a second allows; MNEME_FUZZ_SECONDS: for so long. An input that
// stops the program is left in the folder where the test runs, for a corpus, or a debugger. That mutations
// find bugs at all, a planted one shows.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "tests/fuzz/archive.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

// The sanitizers' runtime has it; without them there is none.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());  // NOLINT

namespace mneme::fuzz {
namespace {

namespace fs = std::filesystem;

// The input that is being tried, one at a time, for a person who examines the program after it has stopped.
std::string dying_name;
ByteSpan tried;

// Called by signal handlers: nothing but system calls.
void keep_input() {
  const int file = ::open(dying_name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  const ssize_t written = ::write(file, tried.data(), tried.size());
  const std::string_view told = "The input is in ";
  const ssize_t said = ::write(2, told.data(), told.size()) +
                       ::write(2, dying_name.data(), dying_name.size()) + ::write(2, "\n", 1);
  if (written < 0 || said < 0) return;
  ::close(file);
}
void keep_input_and_die(int signal) {
  keep_input();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void watch(const Target& target) {
  dying_name = "fuzz-" + std::string(target.name) + ".input";
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keep_input);
    std::signal(SIGABRT, keep_input_and_die);
    return;
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, keep_input_and_die);
}

void try_input(const Target& target, const Bytes& input) {
  tried = input;
  target.hold(input);
}

std::vector<Bytes> corpus_of(const Target& target) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(MNEME_FUZZ_CORPUS) / target.name)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Bytes> corpus;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    corpus.push_back(bytes_of(content));
  }
  return corpus;
}

struct Effort {
  std::chrono::duration<double> time{0.5};
  uint64_t most = 500;  // so that a quicker machine tries nothing new, and a landing waits for no discovery
};
Effort effort() {
  const char* const seconds = std::getenv("MNEME_FUZZ_SECONDS");
  if (seconds == nullptr) return {};
  return {std::chrono::duration<double>(std::stod(seconds)), std::numeric_limits<uint64_t>::max()};
}

class FuzzTest : public testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTest, testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(FuzzTest, HoldsWhatWasFoundAndMutations) {
  using Clock = std::chrono::steady_clock;
  const Target& target = GetParam();
  watch(target);
  const std::vector<Bytes> corpus = corpus_of(target);
  ASSERT_FALSE(corpus.empty());
  for (const Bytes& input : corpus) try_input(target, input);
  Mutator mutator(1);
  uint64_t count = 0;
  const Effort spent = effort();
  for (const auto begin = Clock::now(); count < spent.most && Clock::now() - begin < spent.time; ++count) {
    try_input(target, mutator.next(target, corpus));
  }
  RecordProperty("mutations", std::to_string(count));
  std::printf("%s: %zu inputs, %llu mutations\n", target.name.data(), corpus.size(),
              static_cast<unsigned long long>(count));
}

// The writers' present output, of which the corpus was once made.
TEST_P(FuzzTest, HoldsWhatWritersWrite) {
  watch(GetParam());
  for (const Bytes& input : GetParam().seeds()) try_input(GetParam(), input);
}

TEST(ArchiveTest, ChangesOneFileAndLeavesTheOthers) {
  Bytes page(4096);
  std::ranges::copy(bytes_of("header"), page.begin());
  std::ranges::copy(bytes_of("record"), page.begin() + 2048);
  const std::vector<ArchivedFile> files = {{"empty", {}}, {"text", bytes_of("some words")}, {"page", page}};
  std::array<size_t, 3> changed{};
  for (uint64_t random = 0; random < 200; ++random) {
    Bytes archive = pack(files);
    change_a_stretch(archive, random,
                     [](Bytes& stretch) { stretch.insert(stretch.begin(), std::byte{'X'}); });
    const std::vector<ArchivedFile> now = unpack(archive);
    ASSERT_EQ(now.size(), files.size());
    size_t differing = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(now[i].name, files[i].name);
      if (now[i].content == files[i].content) continue;
      ++differing;
      ++changed[i];
      EXPECT_LE(now[i].content.size(), files[i].content.size() + 1);
    }
    EXPECT_EQ(differing, 1);
  }
  EXPECT_EQ(changed[0], 0);
  EXPECT_GT(changed[1], 50);
  EXPECT_GT(changed[2], 50);
}

void look_for_canary() {
  Mutator mutator(1);
  const std::vector<Bytes> corpus = {bytes_of("MNN\3Mneme 0123"), bytes_of("0123456789")};
  for (int i = 0; i < 1'000'000; ++i) kCanary.hold(mutator.next(kCanary, corpus));
}

TEST(FuzzDeathTest, MutationsFindAPlantedBug) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(look_for_canary(), "CHECK failed");
}

}  // namespace
}  // namespace mneme::fuzz
