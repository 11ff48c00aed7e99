// For tests: a replicated log in this process's memory, and what an engine with a file device would have sent
// there.
//
// Threads  any number of readers, each with a thread, beside one that publishes.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "logging/directory/manifest.h"
#include "logging/record/block_format.h"
#include "logging/replicated/replicated_log.h"

namespace mneme::test {

inline ReplicatedPiece term_begin(uint64_t term) {
  ReplicatedPiece piece;
  piece.term = term;
  return piece;
}

class MemoryReplicatedLog {
 public:
  // Positions rise by `stride`.
  explicit MemoryReplicatedLog(uint64_t stride = 1) : stride_(stride) {}

  // False: a later term has begun.
  bool append(ReplicatedPiece piece) {
    const std::lock_guard lock(mutex_);
    if (piece.term < term_) return false;
    term_ = piece.term;
    piece.position = next_position();
    pieces_.push_back(std::move(piece));
    changed_.notify_all();
    return true;
  }
  uint64_t size() const {
    const std::lock_guard lock(mutex_);
    return pieces_.size();
  }
  uint64_t term() const {
    const std::lock_guard lock(mutex_);
    return term_;
  }
  // The oldest so many go.
  void drop(uint64_t count) {
    const std::lock_guard lock(mutex_);
    dropped_ = std::max(dropped_, count);
  }
  // There are no answers meanwhile.
  void set_silent(bool silent) {
    const std::lock_guard lock(mutex_);
    silent_ = silent;
  }
  void spoil(uint64_t number, size_t byte) {
    const std::lock_guard lock(mutex_);
    pieces_[number].bytes[byte] ^= std::byte{1};
  }

  class Reader final : public ReplicatedReader {
   public:
    explicit Reader(MemoryReplicatedLog& log) : log_(log) {}

    Result<std::vector<ReplicatedPiece>> read(uint64_t position, std::chrono::milliseconds limit) override {
      std::unique_lock lock(log_.mutex_);
      if (log_.silent_) return silence();
      if (position < log_.position_of(log_.dropped_)) return damaged("position {} was dropped", position);
      log_.changed_.wait_for(lock, limit, [&] { return position < log_.next_position(); });
      std::vector<ReplicatedPiece> read;
      for (const ReplicatedPiece& each : log_.pieces_) {
        if (each.position >= position && read.size() < kMostAtATime) read.push_back(each);
      }
      return read;
    }
    Result<uint64_t> first() override {
      const std::lock_guard lock(log_.mutex_);
      if (log_.silent_) return silence();
      return log_.position_of(log_.dropped_);
    }
    Result<uint64_t> end() override {
      const std::lock_guard lock(log_.mutex_);
      if (log_.silent_) return silence();
      return log_.next_position();
    }
    Result<uint64_t> fence(uint64_t term) override {
      if (term <= log_.term()) return failed("term {} has begun", log_.term());
      log_.append(term_begin(term));
      const std::lock_guard lock(log_.mutex_);
      return log_.pieces_.back().position;
    }

   private:
    static constexpr size_t kMostAtATime = 50;
    static Error silence() { return failed("the servers don't answer"); }

    MemoryReplicatedLog& log_;
  };
  std::unique_ptr<ReplicatedReader> reader() { return std::make_unique<Reader>(*this); }

 private:
  uint64_t position_of(uint64_t number) const { return 1 + number * stride_; }
  uint64_t next_position() const { return position_of(pieces_.size()); }

  const uint64_t stride_;
  mutable std::mutex mutex_;  // guards those below
  std::condition_variable changed_;
  std::vector<ReplicatedPiece> pieces_;
  uint64_t term_ = 0;
  uint64_t dropped_ = 0;
  bool silent_ = false;
};

// The pieces that an engine would have sent of a log of one stream: flushes of one to `most_blocks` blocks,
// cut anywhere between two. The directory is not open for work.
inline std::vector<ReplicatedPiece> pieces_of(const std::string& directory, std::mt19937& random,
                                              uint32_t most_blocks) {
  std::vector<ReplicatedPiece> pieces;
  const Manifest manifest = *read_manifest(directory);
  uint64_t term = 0;
  for (const SegmentEntry& entry : manifest.segments) {
    if (entry.incarnation != term) pieces.push_back(term_begin(term = entry.incarnation));
    std::ifstream file(path_in(directory, entry.file), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const ByteSpan bytes = as_bytes(text);
    uint32_t blocks = 0;
    while (block_offset(blocks + 1) <= bytes.size() &&
           BlockHeader::decode(bytes.subspan(block_offset(blocks), kBlockBytes))) {
      ++blocks;
    }
    for (uint32_t begin = 0; begin < blocks;) {
      const uint32_t end = std::min(blocks, begin + 1 + static_cast<uint32_t>(random() % most_blocks));
      const uint64_t offset = begin == 0 ? 0 : block_offset(begin);
      const ByteSpan cut = bytes.subspan(offset, block_offset(end) - offset);
      pieces.push_back({0, term, entry.number, offset, {cut.begin(), cut.end()}});
      begin = end;
    }
  }
  return pieces;
}

}  // namespace mneme::test
