// Which cores serve a device's interrupts, and how a thread keeps off them.
//
// What for    a virtual disk with one queue interrupts one core, always the same, for every write and every
//             sync. A worker that runs there loses that time: thousands of flushes a second took a third of
//             its throughput where the core beside it was idle. A device with one queue for each core
//             interrupts the core that asked it; then no core needs sparing.
// Errors      where the system does not report a device's cores, there are none; where it refuses a change,
//             nothing changes. Either costs time only.
// Threads     any; keep_off() speaks of the calling thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mneme {

// Cores that got more than an eighth each of all interrupts of the device under `path` (which need not exist
// yet), by number. `root` is where /proc and /sys are found: elsewhere in tests.
std::vector<uint32_t> interrupted_cores(const std::filesystem::path& path);
std::vector<uint32_t> interrupted_cores(unsigned major, unsigned minor, const std::filesystem::path& root);

// Keeps the calling thread, one of `threads`, off `cores`, if the others that it may run on are enough for
// all of them. Whether it is kept off.
bool keep_off(const std::vector<uint32_t>& cores, uint32_t threads);

}  // namespace mneme
