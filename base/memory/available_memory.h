// How many bytes the process can still touch before the kernel swaps or kills: what the machine has
// available, or less, where a control group's limit is nearer (a container's, a service's).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace mneme {

// Nothing where the system does not say. `root` is where /proc and /sys are found: elsewhere in tests.
std::optional<size_t> available_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace mneme
