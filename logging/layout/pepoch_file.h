// pepoch.log: up to which epoch every logger's log is durable (epoch_log.h).
//
// Layout      two slots of 4096 bytes; the n-th write of an incarnation goes to slot n mod 2, so that one
//             that a crash tears leaves the one before.
//             slot   0 u32 CRC32C of its other bytes   4 u32 magic "MNPE"   8 u32 format version
//                    12 u32 loggers   16 u64 database id   24 u32 incarnation   28 u32 zero
//                    32 u64 n, from 1
//                    40 u64 pepoch: the last epoch that all loggers have persisted
//                    48 u64 the LSN where the log ends: its epoch is the next, its place counts all records
//                           before it
//                    56 u64 for each logger: where that end is in its stream; then zeros
//             An incarnation begins with zeros in both. What fits a slot's first sector of 512 bytes, as what
//             up to 57 loggers say does, a crash can't tear: there a slot that is neither intact nor zeros is
//             damage. So are zeros beside a slot with n above 1.
// Invariants  a slot is written only after all that it counts is durable. An epoch is acknowledged only after
//             its slot is durable. Slots of former incarnations mean nothing: the manifest says where those
//             ended.
// Threads     PepochFile: the pepoch thread. read_pepoch(): any.
// Errors      missing, foreign, a slot that no crash leaves so, or neither what was written: kDamaged, with
//             the path.
// Source      PACMAN, appendices A.1 and A.2, whose file holds the epoch's number.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file/file.h"
#include "base/memory/aligned_bytes.h"
#include "base/result.h"
#include "logging/device/device_factory.h"
#include "logging/device/io_queue.h"
#include "logging/directory/database_files.h"
#include "logging/directory/manifest.h"
#include "logging/record/epoch_lsn.h"

namespace mneme {

inline constexpr uint32_t kMostLoggers = 256;

struct PepochSlot {
  uint64_t database_id = 0;
  uint32_t incarnation = 0;
  uint64_t number = 0;
  LogEpoch pepoch;
  Lsn end;
  std::vector<StreamPosition> stream_ends;

  // Fills a whole slot's worth of bytes.
  void encode(std::byte* slot) const;
  // Returns nullopt where the bytes are no intact slot.
  static std::optional<PepochSlot> decode(ByteSpan slot);
};

// Returns the newest slot of the manifest's last incarnation; nullopt if no epoch of it was ever persisted.
// Waits no longer than `patience` for the last requests of a process that was just killed.
Result<std::optional<PepochSlot>> read_pepoch(const std::string& directory, const Manifest& manifest,
                                              std::chrono::milliseconds patience);

// Before anything is changed: fails where the file is there and can't be written, as it is a link, or another
// user's.
Result<void> check_pepoch_is_own(const std::string& directory);

class PepochFile {
 public:
  // Makes the file where it is missing, durably: before the first segment is listed.
  static Result<std::unique_ptr<PepochFile>> open(const ManifestFile& manifest, LogDeviceKind kind,
                                                  const DeviceOptions& options);

  // Returns once it is durable.
  Result<void> write(LogEpoch pepoch, Lsn end, std::vector<StreamPosition> stream_ends);

  const std::vector<std::string>& notices() const { return notices_; }

 private:
  PepochFile(OpenedQueue queue, File file, const Manifest& manifest, const DeviceOptions& options);

  const std::chrono::nanoseconds latency_;  // injected, as a device's
  const IoChain::Durability durability_;
  const std::vector<std::string> notices_;
  AlignedBytes bytes_;
  File file_;
  std::unique_ptr<IoQueue> queue_;
  int queue_file_;
  PepochSlot last_;
};

}  // namespace mneme
