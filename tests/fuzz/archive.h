// Archive: files as one input of a fuzzer: names and contents, with runs of zeros left out, as most of a
// segment or a header page are zeros.
//
// Layout      for each file u8 bytes of its name, the name, u8 runs, then for each run u16 bytes, these
//             bytes, u32 zeros that follow. What a mutation makes longer than the input, or larger than
//             kMostBytes, is cut.
#pragma once

#include <string>
#include <vector>

#include "base/function_ref.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {

struct ArchivedFile {
  std::string name;
  Bytes content;
};

inline constexpr size_t kMostArchivedBytes = size_t{1} << 20;  // of all files together
inline constexpr size_t kMostArchivedFiles = 24;

// Any bytes are an archive. Names are letters, digits, '.', '-' and '_': no paths.
std::vector<ArchivedFile> unpack(ByteSpan input);
Bytes pack(const std::vector<ArchivedFile>& files);

// Has `change` change a stretch of one of the files that is not zeros, and leaves all else where it was,
// three times of four also what comes behind it in the file. Of changes to an archive's own bytes most take
// its files apart, and get no further than the first that is read. `random` decides which stretch.
void change_a_stretch(Bytes& archive, uint64_t random, FunctionRef<void(Bytes& stretch)> change);

// A folder for the target that runs, in memory where the system has a folder there. Removed at the end of the
// program.
const std::string& scratch_folder();
// Empties the folder and puts the files there.
void unpack_into(const std::string& folder, const std::vector<ArchivedFile>& files);
// The folder's files, but for those of the name "lock", and folders.
std::vector<ArchivedFile> files_of(const std::string& folder);

}  // namespace mneme::fuzz
