// Text for people: numbers with thousands separators, bytes in units, and aligned tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

std::string thousands(uint64_t number);  // 1234567 -> 1,234,567
// How many of what: (1, "thread") -> 1 thread, (1234, "thread") -> 1,234 threads; (2, "entry", "entries") ->
// 2 entries
std::string counted(uint64_t count, std::string_view one, std::string_view many = "");
std::string bytes_text(uint64_t bytes);    // 1536 -> 1.5 KiB
std::string seconds_text(double seconds);  // 0.0123 -> 12.3 ms

// Two columns or more, padded; the first aligned left, the others right.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

}  // namespace mneme
