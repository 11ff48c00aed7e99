// mneme_bench: the micro-benchmarks. All of Google Benchmark's own options hold: --benchmark_filter=REGEX,
// --benchmark_format=json, --benchmark_repetitions=N and so on.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <string>

#include "base/memory/available_memory.h"
#include "bench/benchmarks.h"

int main(int argc, char** argv) {
  mneme::bench::Sizes sizes{std::min(size_t{4} << 30, mneme::available_memory_bytes().value_or(0) / 4),
                            1'000'000};
  CLI::App program("Micro-benchmarks of Mneme; options of Google Benchmark (--benchmark_...) hold too",
                   "mneme_bench");
  program.allow_extras();
  program
      .add_option("--region", sizes.region_bytes,
                  "memory for dependent reads, down to a power of two; default 4 GiB, a quarter of what is "
                  "free at most")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(size_t{4096}, size_t{1} << 40));
  program.add_option("--entries", sizes.entries, "entries of an index, rows of a table")
      ->check(CLI::Range(uint64_t{256}, uint64_t{1} << 32))
      ->capture_default_str();
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  }
  sizes.region_bytes = std::bit_floor(sizes.region_bytes);

  std::vector<std::string> rest = program.remaining();
  std::vector<char*> arguments = {argv[0]};
  for (std::string& argument : rest) arguments.push_back(argument.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  mneme::bench::register_memory(sizes);
  mneme::bench::register_copy(sizes);
  mneme::bench::register_index(sizes);
  mneme::bench::register_transaction(sizes);
  mneme::bench::register_order(sizes);
  mneme::bench::register_procedure(sizes);
  mneme::bench::register_histogram(sizes);
  mneme::bench::register_sequence(sizes);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
