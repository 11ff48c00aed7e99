#include "tests/simulator/rot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "cli/measure/recovery_text.h"
#include "logging/directory/log_archive.h"
#include "logging/layout/pepoch_file.h"
#include "logging/record/block_format.h"
#include "recovery/database/recover.h"
#include "tests/simulator/log_hashes.h"

namespace mneme::simulator {

namespace {

namespace fs = std::filesystem;

struct Byte {
  std::string path;
  uint64_t offset = 0;
  unsigned mask = 0;

  std::string text() const { return fmt::format("byte {} of {} was changed by {:#04x}", offset, path, mask); }
};

// As it was again when this goes.
class RottenByte {
 public:
  explicit RottenByte(const Byte& byte) : byte_(byte) { flip(); }
  ~RottenByte() { flip(); }
  RottenByte(const RottenByte&) = delete;
  RottenByte& operator=(const RottenByte&) = delete;

 private:
  void flip() const {
    std::fstream file(byte_.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(byte_.offset));
    const int now = file.get();
    file.seekp(static_cast<std::streamoff>(byte_.offset));
    file.put(static_cast<char>(static_cast<unsigned>(now) ^ byte_.mask));
    CHECK(file.good());
  }

  const Byte& byte_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Number>
Number number_at(const std::string& bytes, size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

bool has_checksum(const std::string& bytes, size_t begin, size_t end) {
  const auto covered = std::as_bytes(std::span(bytes).subspan(begin + 4, end - begin - 4));
  return crc32c(covered) == number_at<uint32_t>(bytes, begin);
}

// A block's header, read as docs/log_format.md describes it to strangers.
struct Block {
  std::string path;
  uint64_t offset = 0;
  uint64_t durable = 0;
  uint32_t incarnation = 0;

  std::string bytes;

  bool has(const Byte& byte) const {
    return path == byte.path && byte.offset >= offset && byte.offset < offset + kBlockBytes;
  }
  bool has_in_header(const Byte& byte) const { return has(byte) && byte.offset < offset + kBlockHeaderBytes; }
};

std::vector<Block> blocks_of(const std::string& directory, const Manifest& manifest) {
  std::vector<Block> blocks;
  for (const SegmentEntry& segment : manifest.segments) {
    const std::string path = path_in(directory, segment.file);
    const std::string bytes = content_of(path);
    if (bytes.size() < kBlockBytes) continue;
    for (size_t at = kBlockBytes; at + kBlockBytes <= bytes.size(); at += kBlockBytes) {
      const bool is_right = bytes.compare(at + 4, 4, "MNBK") == 0 &&
                            has_checksum(bytes, at, at + kBlockHeaderBytes) &&
                            number_at<uint32_t>(bytes, at + 32) == segment.incarnation &&
                            number_at<uint32_t>(bytes, at + 36) == segment.number &&
                            number_at<uint32_t>(bytes, at + 40) == at / kBlockBytes - 1;
      if (!is_right) continue;
      blocks.push_back({path, at, number_at<uint64_t>(bytes, at + 24), segment.incarnation,
                        bytes.substr(at, kBlockBytes)});
    }
  }
  return blocks;
}

// Whether the block, which is whole, has with this byte changed a sector of zeros where there were others: a
// crash may leave it so.
bool may_pass_for_torn(const Block& block, const Byte& byte) {
  std::string changed = block.bytes;
  changed[byte.offset - block.offset] =
      static_cast<char>(static_cast<unsigned char>(changed[byte.offset - block.offset]) ^ byte.mask);
  const size_t used = kBlockHeaderBytes + number_at<uint32_t>(block.bytes, 12);
  for (size_t at = 0; at < used; at += kSectorBytes) {
    if (changed.find_first_not_of('\0', at) >= at + kSectorBytes) return true;
  }
  return false;
}

// Bounds on the log that recovery may find where this byte has rotted.
struct Bounds {
  uint64_t least_end = std::numeric_limits<uint64_t>::max();  // it must not end sooner
  bool must_be_refused = false;
};

Bounds bounds_of(const Byte& byte, const std::string& directory, const Manifest& manifest) {
  Bounds bounds;
  // A database that has just been made may have had no life yet.
  const uint64_t begin = manifest.incarnations.empty() ? manifest.checkpoint_lsn.value
                                                       : std::max(manifest.checkpoint_lsn.value,
                                                                  manifest.incarnations.back().begin.value);
  if (byte.path == directory + "/" + kPepochFile) {
    // Where the last life wrote no segment, recovery does not read that file.
    bounds.must_be_refused = std::ranges::any_of(manifest.segments, [&](const SegmentEntry& each) {
      return each.incarnation == manifest.incarnations.back().number;
    });
    return bounds;
  }
  // That file covers everything that loggers' streams hold.
  if (manifest.layout == LogLayout::kEpoch) return bounds;
  const std::vector<Block> blocks = blocks_of(directory, manifest);
  const auto rotten = std::ranges::find_if(blocks, [&](const Block& each) { return each.has(byte); });
  if (rotten == blocks.end()) return bounds;
  const bool is_whole = crc32c(std::as_bytes(std::span(rotten->bytes).subspan(kBlockHeaderBytes))) ==
                        number_at<uint32_t>(rotten->bytes, 8);
  bounds.must_be_refused = is_whole && rotten->incarnation == manifest.incarnations.back().number &&
                           !may_pass_for_torn(*rotten, byte);
  bounds.least_end = begin;
  for (const Block& each : blocks) {
    if (!each.has_in_header(byte)) bounds.least_end = std::max(bounds.least_end, each.durable);
  }
  return bounds;
}

// Those alone that have no other name: an archive keeps a file under a second one.
std::vector<std::pair<std::string, uint64_t>> files_of(const std::string& directory) {
  std::vector<std::pair<std::string, uint64_t>> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const bool has_bytes = entry.is_regular_file() && entry.file_size() > 0 && entry.hard_link_count() == 1;
    if (has_bytes) files.emplace_back(entry.path().string(), entry.file_size());
  }
  std::ranges::sort(files);
  return files;
}

class RotExamination {
 public:
  RotExamination(const RotSetting& setting, LifeCounts& counts)
      : setting_(setting), counts_(counts), random_(setting.scenario.seed * 104'729 + setting.lives) {}

  std::optional<std::string> run() {
    const auto data = files_of(setting_.folders.data);
    const auto archived = setting_.archive.empty()
                              ? std::vector<std::pair<std::string, uint64_t>>()
                              : files_of(archive_folder(setting_.archive, setting_.manifest.database_id));
    for (uint64_t i = 0; i < setting_.scenario.rot; ++i) {
      const bool is_archived = !archived.empty() && random_() % 4 == 0;
      const auto& files = is_archived ? archived : data;
      CHECK(!files.empty());
      const auto& [path, bytes] = files[random_() % files.size()];
      const Byte byte{path, random_() % bytes, static_cast<unsigned>(random_() % 255 + 1)};
      if (auto trouble = examine(byte, is_archived)) return fmt::format("{}, and {}", byte.text(), *trouble);
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> examine(const Byte& byte, bool is_archived) {
    RecoverOptions how;
    how.scheme = setting_.schemes[random_() % setting_.schemes.size()];
    how.replay.threads = 1 + static_cast<uint32_t>(random_() % 2);
    how.keep_log = true;
    if (is_archived) how.log_archive = setting_.archive;
    const auto sound = recover(setting_.folders.data, how);
    if (!sound) return "even without that: " + sound.error().message;
    const std::vector<uint64_t> hashes = hashes_of(sound->log);
    // Read without the rot: what is right now is what was written.
    const Bounds bounds = is_archived ? Bounds() : bounds_of(byte, setting_.folders.data, setting_.manifest);

    const RottenByte rotten(byte);
    ++counts_.rotten;
    const auto recovered = recover(setting_.folders.data, how);
    if (!recovered) {
      const Error& error = recovered.error();
      if (error.kind != ErrorKind::kDamaged) return "is not taken for damage: " + error.message;
      if (error.message.find(fs::path(byte.path).filename().string()) == std::string::npos)
        return "the file is not named: " + error.message;
      ++counts_.rot_refused;
      return std::nullopt;
    }
    if (bounds.must_be_refused) return "it is not refused, though no crash leaves such a file";
    const std::vector<uint64_t> found = hashes_of(recovered->log);
    if (found == hashes) {
      if (digest_text(*recovered->database, 1) != setting_.digest) return "another state is recovered";
      return std::nullopt;
    }
    const bool is_prefix =
        found.size() < hashes.size() && std::equal(found.begin(), found.end(), hashes.begin());
    if (!is_prefix) return "other records are found than there were";
    const uint64_t gone = hashes.size() - found.size();
    if (recovered->log.end.value < bounds.least_end)
      return fmt::format("the log ends {} records sooner, at LSN {}, though it was durable beyond", gone,
                         recovered->log.end.value);
    if (recovered->report.log.dropped_reason.empty())
      return fmt::format("the log ends {} records sooner and doesn't say so", gone);
    // Without the log's begin the state is not known that the rest would have made.
    if (!setting_.is_whole) {
      ++counts_.rot_at_the_end;
      return std::nullopt;
    }
    if (auto trouble = setting_.judge.compare_without_last(gone, *recovered->database)) return trouble;
    ++counts_.rot_at_the_end;
    return std::nullopt;
  }

  const RotSetting& setting_;
  LifeCounts& counts_;
  std::mt19937_64 random_;
};

}  // namespace

std::optional<std::string> examine_rot(const RotSetting& setting, LifeCounts& counts) {
  return RotExamination(setting, counts).run();
}

}  // namespace mneme::simulator
