// LedgerModel: the ledger's procedures (ledger.h) once more, on maps: what calls that run one after the other
// must give, and leave.
//
// It shares nothing with what it judges, but for the calls' encoding.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/transaction/database.h"
#include "procedures/interpreter/call.h"

namespace mneme::simulator {

// The values of the INOUT parameters, in their order; nullopt is NULL.
using LedgerResults = std::vector<std::optional<int64_t>>;

class LedgerModel {
 public:
  LedgerModel();  // as load_ledger() leaves it

  // Returns nullopt if the call raises an exception, and has changed nothing.
  std::optional<LedgerResults> run(const Call& call);
  // Whether it would change anything.
  bool writes(const Call& call) const;
  // A sentence, where the database's rows are others.
  std::optional<std::string> compare(const Database& database) const;

 private:
  struct Account {
    int64_t balance = 1000;
    int64_t entries = 0;
    int64_t kept_friend = 0;
  };
  struct Entry {
    int64_t amount = 0;
    std::optional<std::string> note;
  };
  // By account and number.
  using Entries = std::map<std::pair<int64_t, int64_t>, Entry>;

  // Those that forget() takes.
  std::pair<Entries::const_iterator, Entries::const_iterator> forgotten(const Call& call) const;

  std::vector<Account> accounts_;
  Entries entries_;
  int64_t total_ = 0;
  int64_t deposits_ = 0;
};

}  // namespace mneme::simulator
