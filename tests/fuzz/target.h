// Fuzz targets: all that reads bytes from outside, one function a reader, which takes any bytes and stops the
// program where the reader does not keep what it promises.
//
// A promise   no crash, no finding of a sanitizer, no end in sight missed, no memory past bounds; bytes that
//             are refused are refused by an Error that says something; what is accepted once is accepted
//             again, alike.
// Used twice  by libFuzzer (fuzzer_main.cc), which looks for inputs; and by fuzz_test.cc, which repeats those
//             in corpus/ and some mutations of them wherever tests run.
// Threads     one at a time: targets keep their files in one scratch folder.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace mneme::fuzz {

using Bytes = std::vector<std::byte>;

struct Target {
  std::string_view name;
  void (*hold)(ByteSpan input);
  // Makes the input's checksums right, so that mutations get behind them. nullptr: it has none.
  void (*repair)(Bytes& input) = nullptr;
  // Inputs to begin with, among them some that are accepted. Made by the writers of what the target reads.
  std::vector<Bytes> (*seeds)();
  bool is_archive = false;  // the input is files (archive.h): most mutations change one of them
};

std::span<const Target> all_targets();
// nullptr: there is none of this name.
const Target* find_target(std::string_view name);

// With a bug behind four conditions, planted to be found. Not one of all_targets().
extern const Target kCanary;

inline Bytes bytes_of(std::string_view text) {
  const ByteSpan bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

// Stops the program unless the error is a sentence.
void expect_words(const Error& error);
template <typename T>
bool accepted(const Result<T>& result) {
  if (!result.ok()) expect_words(result.error());
  return result.ok();
}

extern const Target kSqlTarget;
extern const Target kStatementsTarget;
extern const Target kArgumentsTarget;
extern const Target kManifestTarget;
extern const Target kLogTarget;
extern const Target kCheckpointTarget;
extern const Target kCallTarget;
extern const Target kChangesTarget;
extern const Target kRecoveryTarget;
extern const Target kMessagesTarget;
extern const Target kLogServerTarget;
extern const Target kLogAnswersTarget;
extern const Target kSavedLogTarget;
extern const Target kReplicatedTarget;
extern const Target kNativeTarget;
extern const Target kServerClientTarget;

}  // namespace mneme::fuzz
