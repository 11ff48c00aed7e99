// mneme_fuzz_seeds FOLDER: writes the targets' seeds, FOLDER/TARGET/seed-N, as they are kept in
// tests/fuzz/corpus.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/target.h"

int main(int count, char** words) {
  namespace fs = std::filesystem;
  using namespace mneme;
  if (count != 2) {
    std::fprintf(stderr, "usage: mneme_fuzz_seeds FOLDER\n");
    return 2;
  }
  for (const fuzz::Target& target : fuzz::all_targets()) {
    const fs::path folder = fs::path(words[1]) / target.name;
    fs::create_directories(folder);
    size_t number = 0;
    for (const fuzz::Bytes& seed : target.seeds()) {
      std::ofstream file(folder / ("seed-" + std::to_string(++number)), std::ios::binary);
      file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
      if (!file) {
        std::fprintf(stderr, "cannot write to %s\n", folder.c_str());
        return 1;
      }
    }
  }
}
