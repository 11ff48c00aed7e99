// Ledger: a small database for simulated lives: accounts, their entries, and calls that read, change, insert
// and delete what others do just then.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "base/result.h"
#include "engine/transaction/database.h"
#include "procedures/binder/program.h"
#include "workloads/shared/call_builder.h"

namespace mneme::simulator {

inline constexpr int64_t kAccounts = 8;

std::unique_ptr<Program> ledger_program();
Result<void> load_ledger(Database& database);

class LedgerCalls {
 public:
  explicit LedgerCalls(uint64_t seed) : random_(seed) {}
  // Valid until the next.
  const Call& next();

 private:
  int64_t draw(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(below)); }

  std::mt19937_64 random_;
  CallBuilder builder_;
};

}  // namespace mneme::simulator
