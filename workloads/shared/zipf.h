// Zipf: ranks 0 .. count-1, rank r with a probability proportional to 1 / (r+1)^theta.
//
// theta       0: uniform; YCSB's 0.99: of a million ranks the first is drawn in 6.5 percent of the cases.
// Cost        count powers once, to add up all probabilities; then a power a draw, and no memory.
// Invariants  a draw takes one number from the generator, so what is drawn afterwards does not depend on the
//             rank. Powers are the C library's: another library may round a rank to its neighbour.
// Threads     constant once made.
// Source      Gray, Sundaresan, Englert, Baclawski, Weinberger, Quickly Generating Billion-Record Synthetic
//             Databases (SIGMOD 1994): the first two ranks are exact, the others come from a continuous
//             approximation.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "workloads/shared/random.h"

namespace mneme {

class Zipf {
 public:
  // An error with the reason where no Zipf has such a theta.
  static Result<void> check(double theta);

  // 0 <= theta < 1, and count > 0.
  Zipf(uint64_t count, double theta);

  uint64_t draw(Random& random) const;

  uint64_t count() const { return count_; }
  // The probability of rank 0.
  double highest_probability() const { return 1 / zeta_; }

 private:
  uint64_t count_;
  double zeta_;         // the sum of all 1 / (r+1)^theta
  double zeta_of_two_;  // the first two of them
  double exponent_;     // 1 / (1 - theta)
  double slope_;        // the paper's eta
};

}  // namespace mneme
