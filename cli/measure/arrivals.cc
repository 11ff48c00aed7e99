#include "cli/measure/arrivals.h"

#include <cmath>

#include "base/check.h"

namespace mneme {

ArrivalKind arrival_kind(std::string_view name) {
  if (name == "poisson") return ArrivalKind::kPoisson;
  CHECK(name == "uniform");
  return ArrivalKind::kUniform;
}

Arrivals::Arrivals(ArrivalKind kind, double rate, uint64_t start_ns, uint32_t worker, uint32_t workers,
                   uint64_t seed)
    : kind_(kind),
      start_ns_(start_ns),
      interval_ns_(1e9 * workers / rate),
      random_({seed, /*purpose=*/0xa221a1, worker}),
      since_start_ns_(kind == ArrivalKind::kUniform ? interval_ns_ * worker / workers : gap_ns()) {}

double Arrivals::gap_ns() {
  if (kind_ == ArrivalKind::kUniform) return interval_ns_;
  return -interval_ns_ * std::log(random_.fraction());
}

}  // namespace mneme
