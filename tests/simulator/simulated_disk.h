// SimulatedDisk: a folder as a disk with a volatile cache, beneath the C library's calls.
//
// Losses      when the power fails, writes to files below the folder that were not synced may be lost: each
//             write alone, and any of its 512-byte sectors. Changes of a directory (files made, renamed,
//             removed) may be lost too, with those that rest upon them, unless the directory was synced after
//             them. A sync takes its time, and covers the writes that came before it began.
// Faults      the n-th write, sync, read or change of a directory fails, or the disk is full from then on; a
//             write may be done in part, as may any write through File, which goes on with the rest. The
//             writes that a failed sync would have covered are lost with the next power failure, even if
//             later syncs succeed, as with Linux's page cache.
// Kills       a process that dies takes nothing with it that it has written: the next one that puts in a disk
//             of this folder finds the same cache.
// How         open, pwrite, fdatasync and the like are defined anew in simulated_disk.cc; each is a step
//             (simulated_threads.h). The files themselves are real, and hold what a reader is to see; what a
//             power failure would undo is kept here.
// Threads     simulated ones.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mneme::simulator {

enum class Fault : uint8_t {
  kNone,
  kWriteFails,    // EIO, once
  kShortWrite,    // of the log, once
  kSyncFails,     // EIO, once
  kSyncsFail,     // EIO, from then on
  kDiskFull,      // ENOSPC, from then on, of whatever needs room
  kEntryFails,    // EIO, once, of a file or directory that is made, renamed, linked or removed
  kReadFails,     // EIO, once
  kForgetsSyncs,  // no fault that an engine could survive: for the check of the check
};

inline constexpr size_t kFaults = static_cast<size_t>(Fault::kForgetsSyncs) + 1;
std::string_view name_of(Fault fault);

struct DiskCounts {
  std::array<uint64_t, kFaults> faults{};  // so many lives met them
  uint64_t slow_syncs = 0;                 // of more than 50 ms

  DiskCounts& operator+=(const DiskCounts& other);
  bool operator==(const DiskCounts&) const = default;
};

struct DiskRules {
  // absolute; what lies in it already is durable, but for what a killed process has left in the cache
  std::string folder;
  std::string trash;  // beside it, on the same file system: for what may yet come back, and for the cache
  Fault fault = Fault::kNone;
  uint64_t fault_at = 0;  // the number of the call that could fail so, from 1
  uint64_t slowness = 1;  // a sync takes up to so many times 3 ms
};

// `counts` outlive it.
void insert_disk(DiskRules rules, DiskCounts& counts);
// Before the process ends, one of these. What is lost is drawn (simulated_threads.h). No call may follow.
void fail_power();
void keep_cache();

}  // namespace mneme::simulator
