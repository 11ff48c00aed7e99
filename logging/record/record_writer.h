// RecordWriter: writes one worker's records: encodes them, and counts them. Each log puts the encoded bytes
// in its own place.
//
// Flow        reserve() -> fill(); or write() alone, where a record needs no place of its size beforehand
// Invariants  a worker has at most one record reserved and not filled. A skip record fills what was reserved
//             with zeros.
// Threads     reserve, fill, write: the worker. records, bytes: any; they may lag behind.
// Memory      nothing is allocated.
#pragma once

#include <atomic>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "logging/record/lsn.h"
#include "logging/record/record_format.h"

namespace mneme {

// Returns a skip record's payload: zeros. `bytes` is at most kMaxPayloadBytes.
ByteSpan skip_payload(size_t bytes);

// A record's header without its size and its checksum.
struct RecordHead {
  Lsn lsn;
  RecordKind kind = RecordKind::kSkip;
  bool is_part = false;
};

// Calls put(header, payload) with an encoded record. `seed` is that of the record's place
// (RecordLayout::seed_at).
template <typename Put>
void encode_record(const RecordHead& head, ByteSpan payload, uint32_t seed, Put put) {
  std::byte header[kRecordHeaderBytes];
  RecordHeader record{0, static_cast<uint32_t>(kRecordHeaderBytes + payload.size()), head.kind, head.lsn,
                      head.is_part};
  record.encode(header);
  record.checksum = record_checksum(header, payload, seed);
  record.encode(header);
  DCHECK(record_is_well_formed(header, payload, head.lsn, seed));
  put(ByteSpan(header), payload);
}

class RecordWriter {
 public:
  // The worker's next record has a payload of this size. Returns the size of the record.
  uint32_t reserve(uint32_t payload_bytes) {
    DCHECK(reserved_bytes_ == 0);
    reserved_bytes_ = static_cast<uint32_t>(kRecordHeaderBytes) + payload_bytes;
    return reserved_bytes_;
  }

  // Writes the reserved record by put(header, payload). Returns its size. `payload` has the reserved size; a
  // skip record's is ignored.
  template <typename Put>
  uint32_t fill(const RecordHead& head, ByteSpan payload, uint32_t seed, Put put) {
    const uint32_t record_bytes = std::exchange(reserved_bytes_, 0);
    DCHECK(record_bytes >= kRecordHeaderBytes);
    if (head.kind == RecordKind::kSkip) payload = skip_payload(record_bytes - kRecordHeaderBytes);
    CHECK(payload.size() == record_bytes - kRecordHeaderBytes);
    write(head, payload, seed, put);
    return record_bytes;
  }

  // Writes a record that was not reserved, by put(header, payload).
  template <typename Put>
  void write(const RecordHead& head, ByteSpan payload, uint32_t seed, Put put) {
    encode_record(head, payload, seed, put);
    add(records_, 1);
    add(bytes_, kRecordHeaderBytes + payload.size());
  }

  uint64_t records() const { return records_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static void add(std::atomic<uint64_t>& count, uint64_t more) {
    count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  uint32_t reserved_bytes_ = 0;  // of the record that is reserved and not filled; else 0
  // Written by the worker, read by any thread. Relaxed: the counts order nothing.
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace mneme
