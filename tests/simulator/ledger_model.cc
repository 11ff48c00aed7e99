#include "tests/simulator/ledger_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "tests/simulator/ledger.h"
#include "workloads/shared/load.h"

namespace mneme::simulator {

namespace {

// In the order in which ledger_sql() creates them.
enum class LedgerCall : uint32_t { kDeposit, kPay, kPayFriend, kBefriend, kForget, kLook };

int64_t integer(const Call& call, size_t argument) {
  return call.arguments[argument].scalar.as_int();
}

std::string rows_text(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += (text.empty() ? "" : "; ") + row;
  return text;
}

}  // namespace

LedgerModel::LedgerModel() : accounts_(kAccounts) {
  for (int64_t id = 0; id < kAccounts; ++id)
    accounts_[static_cast<size_t>(id)].kept_friend = (id + 1) % kAccounts;
}

std::pair<LedgerModel::Entries::const_iterator, LedgerModel::Entries::const_iterator> LedgerModel::forgotten(
    const Call& call) const {
  const int64_t account = integer(call, 0);
  const int64_t end = accounts_[static_cast<size_t>(account)].entries - integer(call, 1);
  const auto first = entries_.lower_bound({account, 0});
  return {first, end <= 0 ? first : entries_.lower_bound({account, end})};
}

bool LedgerModel::writes(const Call& call) const {
  switch (static_cast<LedgerCall>(call.procedure.value)) {
    case LedgerCall::kLook:
      return false;
    case LedgerCall::kForget: {
      const auto [first, end] = forgotten(call);
      return first != end;
    }
    case LedgerCall::kPay:
      return accounts_[static_cast<size_t>(integer(call, 0))].balance >= integer(call, 2);
    default:
      return true;
  }
}

std::optional<LedgerResults> LedgerModel::run(const Call& call) {
  const int64_t id = integer(call, 0);
  Account& account = accounts_[static_cast<size_t>(id)];
  switch (static_cast<LedgerCall>(call.procedure.value)) {
    case LedgerCall::kDeposit: {
      const int64_t amount = integer(call, 1);
      const Value& note = call.arguments[2].scalar;
      account.balance += amount;
      entries_[{id, account.entries++}] = {
          amount, note.is_null() ? std::nullopt : std::optional<std::string>(note.as_text())};
      total_ += amount;
      ++deposits_;
      return LedgerResults{account.balance};
    }
    case LedgerCall::kPay: {
      const int64_t amount = integer(call, 2);
      const int64_t before = account.balance;
      if (before < amount) return std::nullopt;
      account.balance -= amount;
      accounts_[static_cast<size_t>(integer(call, 1))].balance += amount;
      return LedgerResults{before - amount};
    }
    case LedgerCall::kPayFriend: {
      account.balance -= integer(call, 1);
      accounts_[static_cast<size_t>(account.kept_friend)].balance += integer(call, 1);
      return LedgerResults{account.kept_friend};
    }
    case LedgerCall::kBefriend:
      account.kept_friend = integer(call, 1);
      return LedgerResults{};
    case LedgerCall::kForget: {
      const auto [first, end] = forgotten(call);
      std::optional<int64_t> sum;
      for (auto each = first; each != end; ++each) sum = sum.value_or(0) + each->second.amount;
      entries_.erase(first, end);
      return LedgerResults{sum};
    }
    case LedgerCall::kLook: {
      const auto count = std::distance(entries_.lower_bound({id, 0}), entries_.lower_bound({id + 1, 0}));
      return LedgerResults{account.balance, count};
    }
  }
  CHECK(false && "the ledger has no such procedure");
}

std::optional<std::string> LedgerModel::compare(const Database& database) const {
  std::vector<std::string> wanted[3];
  for (size_t id = 0; id < accounts_.size(); ++id) {
    const Account& each = accounts_[id];
    wanted[0].push_back(fmt::format("{} {} {} {}", id, each.balance, each.entries, each.kept_friend));
  }
  for (const auto& [key, each] : entries_)
    wanted[1].push_back(
        fmt::format("{} {} {} {}", key.first, key.second, each.amount, each.note.value_or("NULL")));
  wanted[2].push_back(fmt::format("1 {} {}", total_, deposits_));
  const DatabaseRows rows(database);
  for (uint32_t table = 0; table < 3; ++table) {
    std::vector<std::string> found;
    rows.scan(TableId(table), [&](std::span<const Value> row) {
      std::string text;
      for (size_t column = 0; column < row.size(); ++column) {
        const bool is_text = table == 1 && column == 3;
        text += column == 0 ? "" : " ";
        text += row[column].is_null() ? "NULL"
                : is_text             ? std::string(row[column].as_text())
                                      : std::to_string(row[column].as_int());
      }
      found.push_back(std::move(text));
    });
    // Numbers as text: any order is as good, if both have it.
    std::ranges::sort(found);
    std::ranges::sort(wanted[table]);
    if (found != wanted[table]) {
      return fmt::format("table {} has the rows ({}), and must have ({})",
                         database.catalog().table(TableId(table)).name, rows_text(found),
                         rows_text(wanted[table]));
    }
  }
  return std::nullopt;
}

}  // namespace mneme::simulator
