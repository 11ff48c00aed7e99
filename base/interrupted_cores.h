// Interrupted cores: finds the cores that serve a device's interrupts, and keeps threads off them.
//
// Why         a virtual disk with one queue interrupts the same core for every write and every sync. A worker
//             thread on that core loses the time that the interrupts take. Thousands of flushes a second took
//             a third of a worker's throughput, while the neighbouring core was idle. A device with one queue
//             for each core interrupts the core that sent the request; then no core needs sparing.
// Errors      none are reported, since either failure costs only time. If the system does not report a
//             device's interrupts, interrupted_cores() returns no cores. If the system refuses to move the
//             thread, keep_off() returns false.
// Threads     any; keep_off() changes the calling thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mneme {

// Return the numbers of the cores that each got more than an eighth of the interrupts of a device: of the
// device on which `path` lies, which need not exist yet, or of the device `major`:`minor`. `root` is the
// folder that holds proc and sys: "/" except in tests.
std::vector<uint32_t> interrupted_cores(const std::filesystem::path& path);
std::vector<uint32_t> interrupted_cores(unsigned major, unsigned minor, const std::filesystem::path& root);

// Keeps the calling thread off `cores`, if it may run on at least `threads` other cores: one for each of the
// `threads` threads that do the same. Returns whether the thread is kept off.
bool keep_off(const std::vector<uint32_t>& cores, uint32_t threads);

}  // namespace mneme
