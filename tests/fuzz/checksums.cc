#include "tests/fuzz/checksums.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "engine/checkpoint/checkpoint_format.h"
#include "logging/layout/pepoch_file.h"
#include "logging/nvm/nvm_ring.h"
#include "logging/record/block_format.h"
#include "logging/record/nvm_format.h"
#include "logging/record/record_format.h"
#include "logging/replicated/replicated_message.h"
#include "network/frame.h"

namespace mneme::fuzz {
namespace {

constexpr size_t kPageChecksumAt = 12;

void store_at(std::byte* at, uint32_t checksum) {
  store(at, checksum);
}

// Repairs the checksum of a header page of 4096 bytes, which leaves itself out.
void repair_page(std::byte* page) {
  const ByteSpan bytes(page, kBlockBytes);
  store_at(page + kPageChecksumAt,
           crc32c(bytes.subspan(kPageChecksumAt + 4), crc32c(bytes.first(kPageChecksumAt))));
}

// The record at the front of `rest`, which begins at `at`. Returns what it takes; 0: there is none.
size_t repair_record(std::span<std::byte> rest, StreamPosition at, const RecordLayout& layout) {
  if (rest.size() < kRecordHeaderBytes) return 0;
  const RecordHeader header = RecordHeader::decode(rest.data());
  if (header.record_bytes < kRecordHeaderBytes || header.record_bytes > rest.size()) return 0;
  const ByteSpan payload =
      ByteSpan(rest).subspan(kRecordHeaderBytes, header.record_bytes - kRecordHeaderBytes);
  store_at(rest.data(), record_checksum(rest.data(), payload, layout.seed_at(at)));
  return std::min<size_t>(layout.stream_bytes(header.record_bytes), rest.size());
}

// Line by line: a record may begin at any.
void repair_lines(std::span<std::byte> bytes, StreamPosition first, const RecordLayout& layout,
                  bool lsn_is_place) {
  for (size_t at = 0; at + kNvmLineBytes <= bytes.size();) {
    const std::span<std::byte> rest = bytes.subspan(at);
    const RecordHeader header = RecordHeader::decode(rest.data());
    const bool may_be = header.record_bytes >= kRecordHeaderBytes && header.lsn.value != 0 &&
                        (!lsn_is_place || header.lsn == one_stream_lsn(first + at));
    const size_t taken = may_be ? repair_record(rest, first + at, layout) : 0;
    at += std::max(taken, kNvmLineBytes);
  }
}

void repair_blocks_of(std::span<std::byte> blocks, const RecordLayout& layout) {
  const size_t count = blocks.size() / kBlockBytes;
  const auto used_of = [&](size_t block) {
    return std::min<size_t>(load<uint32_t>(blocks.data() + block * kBlockBytes + 12), kBlockPayloadBytes);
  };
  const auto begin_of = [&](size_t block) {
    return load<uint64_t>(blocks.data() + block * kBlockBytes + 16);
  };
  for (size_t first = 0; first < count;) {
    // Their payload as one piece, as records go on from one to the next.
    Bytes payload;
    size_t end = first;
    do {
      const std::byte* block = blocks.data() + end * kBlockBytes + kBlockHeaderBytes;
      payload.insert(payload.end(), block, block + used_of(end));
      ++end;
    } while (end < count && begin_of(end) == begin_of(first) + payload.size());
    for (size_t at = 0; at < payload.size();) {
      const size_t taken =
          repair_record(std::span(payload).subspan(at), StreamPosition{begin_of(first) + at}, layout);
      if (taken == 0) break;
      at += taken;
    }
    size_t from = 0;
    for (size_t block = first; block < end; ++block) {
      std::byte* at = blocks.data() + block * kBlockBytes;
      std::copy_n(payload.data() + from, used_of(block), at + kBlockHeaderBytes);
      from += used_of(block);
      store_at(at + 8, crc32c({at + kBlockHeaderBytes, kBlockPayloadBytes}));
      store_at(at, crc32c({at + 4, kBlockHeaderBytes - 4}));
    }
    first = end;
  }
}

}  // namespace

void repair_manifest(Bytes& text) {
  constexpr std::string_view kWord = "crc32c ";
  const size_t line = as_text(text).rfind(kWord);
  if (line != std::string_view::npos) text.resize(line);
  const Bytes checksum = bytes_of(fmt::format("{}{:08x}\n", kWord, crc32c(text)));
  text.insert(text.end(), checksum.begin(), checksum.end());
}

void repair_blocks(std::span<std::byte> blocks) {
  repair_blocks_of(blocks, {});
}

void repair_segment(Bytes& file) {
  if (file.size() < kSegmentHeaderBytes) return;
  repair_page(file.data());
  const auto header = SegmentHeader::decode(ByteSpan(file).first(kSegmentHeaderBytes), "the segment");
  const std::span<std::byte> behind = std::span(file).subspan(kSegmentHeaderBytes);
  if (!header.ok()) return repair_blocks_of(behind, {});
  const uint64_t id = header->database_id;
  if (header->nvm) return repair_lines(behind, header->nvm->begin, nvm_layout(id, header->incarnation), true);
  const RecordLayout ring = ring_layout(id, header->incarnation, header->logger.value_or(0));
  if (header->is_destaged) return repair_blocks_of(behind, ring);
  if (!header->is_ring) return repair_blocks_of(behind, {});
  if (file.size() < kRingBegin) return;
  for (size_t mark = 0; mark < 2; ++mark) {
    std::byte* at = file.data() + kRingMarksAt + mark * kNvmLineBytes;
    store_at(at, crc32c({at + 4, 20}, ring.checksum_seed));
  }
  // On its first lap a record's place is where it lies.
  repair_lines(std::span(file).subspan(kRingBegin), StreamPosition{0}, ring, false);
}

void repair_pepoch(Bytes& file) {
  for (size_t at = 0; at + kBlockBytes <= file.size(); at += kBlockBytes) {
    store_at(file.data() + at, crc32c({file.data() + at + 4, kBlockBytes - 4}));
  }
}

void repair_checkpoint(Bytes& file) {
  if (file.size() < kCheckpointHeaderBytes) return;
  store(file.data() + 56, uint64_t{file.size()});
  const auto bounds = load<uint64_t>(file.data() + 64);
  const bool has_bounds = bounds >= kCheckpointHeaderBytes && bounds <= file.size();
  const size_t chunks_end = has_bounds ? bounds : file.size();
  if (has_bounds) store(file.data() + 72, crc32c(ByteSpan(file).subspan(chunks_end)));
  uint64_t chunks = 0;
  uint64_t rows = 0;
  for (size_t at = kCheckpointHeaderBytes; at + kCheckpointChunkHeaderBytes <= chunks_end; ++chunks) {
    std::byte* chunk = file.data() + at;
    const size_t room = chunks_end - at - kCheckpointChunkHeaderBytes;
    const size_t bytes = std::min<size_t>(load<uint32_t>(chunk + 16), room);
    store(chunk + 16, static_cast<uint32_t>(bytes));
    store(chunk + 20, crc32c({chunk + kCheckpointChunkHeaderBytes, bytes}));
    store(chunk + 24, uint64_t{at});
    store(chunk, crc32c({chunk + 4, kCheckpointChunkHeaderBytes - 4}));
    rows += load<uint32_t>(chunk + 12);
    at += kCheckpointChunkHeaderBytes + bytes;
  }
  store(file.data() + 40, chunks);
  store(file.data() + 48, rows);
  repair_page(file.data());
}

void repair_saved_log(Bytes& file) {
  constexpr size_t kBodyAt = 12;
  if (file.size() < kBodyAt) return;
  store(file.data() + 8, crc32c(ByteSpan(file).subspan(kBodyAt)));
}

void repair_replicated_message(Bytes& message) {
  if (message.size() < kReplicatedHeaderBytes) return;
  const size_t length = message.size() - kReplicatedHeaderBytes;
  store(message.data() + 40, static_cast<uint32_t>(length));
  const std::span<std::byte> piece = std::span(message).subspan(kReplicatedHeaderBytes);
  const bool has_page = load<uint64_t>(message.data() + 32) == 0 && length >= kSegmentHeaderBytes;
  if (has_page) repair_page(piece.data());
  repair_blocks(piece.subspan(has_page ? kSegmentHeaderBytes : 0));
  store(message.data() + 44, crc32c(ByteSpan(piece), crc32c(ByteSpan(message).first(44))));
}

void repair_frames(Bytes& stream) {
  for (size_t at = 0; at + kFrameHeaderBytes <= stream.size();) {
    std::byte* frame = stream.data() + at;
    const size_t bytes = load<uint32_t>(frame + 4);
    if (bytes > stream.size() - at - kFrameHeaderBytes) return;
    const uint32_t checksum =
        crc32c({frame + kFrameHeaderBytes, bytes}, crc32c({frame + 12, 4}, crc32c({frame + 4, 4})));
    store(frame + 8, checksum);
    at += kFrameHeaderBytes + bytes;
  }
}

void repair_directory(Bytes& archive) {
  std::vector<ArchivedFile> files = unpack(archive);
  for (ArchivedFile& file : files) {
    if (file.name == "MANIFEST") {
      repair_manifest(file.content);
    } else if (file.name == kPepochFile) {
      repair_pepoch(file.content);
    } else if (as_text(file.content).starts_with("MNEMECKP")) {
      repair_checkpoint(file.content);
    } else if (as_text(file.content).starts_with("MNEME")) {
      repair_segment(file.content);
    }
  }
  archive = pack(files);
}

void repair_each(Bytes& archive, void (*repair)(Bytes& file)) {
  std::vector<ArchivedFile> files = unpack(archive);
  for (ArchivedFile& file : files) repair(file.content);
  archive = pack(files);
}

}  // namespace mneme::fuzz
