#include "tests/fuzz/archive.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "base/check.h"
#include "base/file/file.h"

namespace mneme::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShortestZeros = 16;  // that are worth a run

std::string plain_name(std::string_view name) {
  std::string plain(name);
  std::erase_if(plain, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-' && c != '_'; });
  while (plain.starts_with('.')) plain.erase(0, 1);
  return plain;
}

ByteSpan at_most(ByteReader& reader, size_t count) {
  return reader.get_bytes(std::min(count, reader.remaining()));
}

// Where the zeros from `at` on end. Files are mostly zeros, and each mutation goes over all of them.
size_t end_of_zeros(ByteSpan content, size_t at) {
  constexpr size_t kAtOnce = 64;
  for (; at + kAtOnce <= content.size(); at += kAtOnce) {
    uint64_t any = 0;
    for (size_t i = 0; i < kAtOnce; i += sizeof(any)) any |= load<uint64_t>(content.data() + at + i);
    if (any != 0) break;
  }
  while (at < content.size() && content[at] == std::byte{0}) ++at;
  return at;
}

struct Stretch {
  size_t begin;
  size_t end;
};
// Returns the stretches between runs of zeros, each with the first few zeros behind it.
std::vector<Stretch> stretches_of(ByteSpan content) {
  std::vector<Stretch> stretches;
  for (size_t at = end_of_zeros(content, 0); at < content.size();) {
    size_t end = at;
    size_t next = at;
    for (; next < content.size() && next - end < kShortestZeros; ++next) {
      if (content[next] != std::byte{0}) end = next + 1;
    }
    stretches.push_back({at, next});
    at = end_of_zeros(content, next);
  }
  return stretches;
}

class ScratchFolder {
 public:
  ScratchFolder() {
    const fs::path memory = "/dev/shm";
    const fs::path parent = ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
    path_ = (parent / "mneme-fuzz-XXXXXX").string();
    CHECK(::mkdtemp(path_.data()) != nullptr);
    owner_ = ::getpid();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (::getpid() == owner_) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_;
};

}  // namespace

std::vector<ArchivedFile> unpack(ByteSpan input) {
  std::vector<ArchivedFile> files;
  ByteReader reader(input);
  size_t room = kMostArchivedBytes;
  while (reader.remaining() > 0 && files.size() < kMostArchivedFiles) {
    ArchivedFile file;
    file.name = plain_name(as_text(at_most(reader, reader.get<uint8_t>())));
    for (uint32_t runs = reader.get<uint8_t>(); runs > 0 && reader.remaining() >= 2; --runs) {
      const ByteSpan literal = at_most(reader, std::min<size_t>(reader.get<uint16_t>(), room));
      file.content.insert(file.content.end(), literal.begin(), literal.end());
      room -= literal.size();
      const size_t zeros = reader.remaining() >= 4 ? std::min<size_t>(reader.get<uint32_t>(), room) : 0;
      file.content.resize(file.content.size() + zeros);
      room -= zeros;
    }
    if (!file.name.empty()) files.push_back(std::move(file));
  }
  return files;
}

Bytes pack(const std::vector<ArchivedFile>& files) {
  ByteBuffer out;
  for (const ArchivedFile& file : files) {
    out.put(static_cast<uint8_t>(file.name.size()));
    out.put_bytes(as_bytes(file.name));
    ByteBuffer runs;
    uint32_t count = 0;
    const Bytes& content = file.content;
    for (size_t at = 0; at < content.size() && count < 255; ++count) {
      size_t end = at;   // of the bytes
      size_t next = at;  // behind the zeros that follow
      while (end < content.size() && end - at < 0xffff) {
        next = end_of_zeros(content, end);
        if (next - end >= kShortestZeros || next == content.size()) break;
        end = std::min<size_t>(std::max(next, end + 1), at + 0xffff);
        next = end;
      }
      runs.put(static_cast<uint16_t>(end - at));
      runs.put_bytes(ByteSpan(content).subspan(at, end - at));
      runs.put(static_cast<uint32_t>(next - end));
      at = next;
    }
    out.put(static_cast<uint8_t>(count));
    out.put_bytes(runs.span());
  }
  return {out.span().begin(), out.span().end()};
}

void change_a_stretch(Bytes& archive, uint64_t random, FunctionRef<void(Bytes& stretch)> change) {
  std::vector<ArchivedFile> files = unpack(archive);
  std::vector<Bytes*> contents;
  for (ArchivedFile& file : files) {
    if (!stretches_of(file.content).empty()) contents.push_back(&file.content);
  }
  if (contents.empty()) return change(archive);
  std::mt19937_64 draw(random);
  Bytes& content = *contents[draw() % contents.size()];
  const std::vector<Stretch> stretches = stretches_of(content);
  const auto [begin, end] = stretches[draw() % stretches.size()];
  const auto from = content.begin() + static_cast<ptrdiff_t>(begin);
  const auto to = content.begin() + static_cast<ptrdiff_t>(end);
  Bytes stretch(from, to);
  change(stretch);
  if (draw() % 4 != 0) stretch.resize(end - begin);
  content.insert(content.erase(from, to), stretch.begin(), stretch.end());
  archive = pack(files);
}

const std::string& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path();
}

void unpack_into(const std::string& folder, const std::vector<ArchivedFile>& files) {
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove_all(entry.path());
  for (const ArchivedFile& file : files) {
    const Result<File> made = File::open(folder + "/" + file.name, O_WRONLY | O_CREAT | O_TRUNC);
    CHECK(made.ok());
    CHECK(made->write_at(file.content, 0).ok());
  }
}

std::vector<ArchivedFile> files_of(const std::string& folder) {
  std::vector<ArchivedFile> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name == "lock") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    files.push_back({name, bytes_of(content)});
  }
  std::ranges::sort(files, {}, &ArchivedFile::name);
  return files;
}

}  // namespace mneme::fuzz
