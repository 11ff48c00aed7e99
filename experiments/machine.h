// The environment that results depend on besides the program's options: the machine, its kernel, the build.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace mneme {

// {"processor","cores","memory_bytes","numa_nodes","kernel","system","compiler","program"}; `program` is a
// digest of the executable's bytes, so that results of different builds can be distinguished.
nlohmann::ordered_json environment_json(uint32_t cores);
// The machine's load in the last minute.
double load_average();
// 2026-01-31 12:00 UTC
std::string time_now();

}  // namespace mneme
