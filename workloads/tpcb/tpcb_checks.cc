#include "workloads/tpcb/tpcb_checks.h"

#include <vector>

#include "workloads/shared/consistency.h"

namespace mneme::tpcb {
namespace {

// One branch, teller or account.
struct Book {
  bool exists = false;
  int64_t balance = 0;
  int64_t history = 0;          // sum of its history's deltas
  int64_t tellers = 0;          // of a branch: sum of its tellers' balances
  int64_t accounts = 0;         // of a branch: sum of its accounts' balances
  int64_t account_history = 0;  // of a branch: sum of the deltas of its accounts' history
};

// Branches, tellers or accounts, by number.
class Shelf {
 public:
  explicit Shelf(int64_t count) : books_(static_cast<size_t>(count)) {}

  // Null where there is no such number.
  Book* find(int64_t number) {
    const bool known = number >= 1 && number <= static_cast<int64_t>(books_.size());
    return known ? &books_[static_cast<size_t>(number - 1)] : nullptr;
  }
  const std::vector<Book>& books() const { return books_; }

 private:
  std::vector<Book> books_;
};

struct Books {
  explicit Books(const Scale& scale)
      : branches(scale.branches), tellers(scale.tellers()), accounts(scale.accounts()) {}

  Shelf branches;
  Shelf tellers;
  Shelf accounts;
  int128 total = 0;  // of the accounts' balances
};

void gather_balances(const RowSource& rows, const Scale& scale, Books& books, Condition& known) {
  scan_columns(rows, "branch", {"b_id", "b_balance"}, [&](std::span<const Value> row) {
    Book* branch = books.branches.find(row[0].as_int());
    known.holds(branch != nullptr, "branch {}", row[0].as_int());
    if (branch == nullptr) return;
    branch->exists = true;
    branch->balance = row[1].as_int();
  });
  scan_columns(rows, "teller", {"t_id", "t_b_id", "t_balance"}, [&](std::span<const Value> row) {
    Book* teller = books.tellers.find(row[0].as_int());
    const bool ok = teller != nullptr && scale.branch_of_teller(row[0].as_int()) == row[1].as_int();
    known.holds(ok, "teller {} of branch {}", row[0].as_int(), row[1].as_int());
    if (!ok) return;
    teller->exists = true;
    teller->balance = row[2].as_int();
    books.branches.find(row[1].as_int())->tellers += teller->balance;
  });
  scan_columns(rows, "account", {"a_id", "a_b_id", "a_balance"}, [&](std::span<const Value> row) {
    Book* account = books.accounts.find(row[0].as_int());
    const bool ok = account != nullptr && scale.branch_of_account(row[0].as_int()) == row[1].as_int();
    known.holds(ok, "account {} of branch {}", row[0].as_int(), row[1].as_int());
    if (!ok) return;
    account->exists = true;
    account->balance = row[2].as_int();
    books.branches.find(row[1].as_int())->accounts += account->balance;
    books.total += account->balance;
  });
}

void gather_history(const RowSource& rows, const Scale& scale, Books& books, Condition& known) {
  const auto visit = [&](std::span<const Value> row) {
    const int64_t teller_id = row[0].as_int(), branch_id = row[1].as_int(), account_id = row[2].as_int();
    Book* teller = books.tellers.find(teller_id);
    Book* account = books.accounts.find(account_id);
    const bool ok = teller != nullptr && account != nullptr && scale.branch_of_teller(teller_id) == branch_id;
    known.holds(ok, "history of teller {}, branch {}, account {}", teller_id, branch_id, account_id);
    if (!ok) return;
    const int64_t delta = row[3].as_int();
    teller->history += delta;
    account->history += delta;
    books.branches.find(branch_id)->history += delta;
    books.branches.find(scale.branch_of_account(account_id))->account_history += delta;
  };
  scan_columns(rows, "history", {"h_t_id", "h_b_id", "h_a_id", "h_delta"}, visit);
}

void check_branches(const Books& books, std::vector<Check>& checks) {
  Condition tellers("branches: a branch's balance is the sum of its tellers' and of its history");
  Condition accounts(
      "branch_accounts: the balances of a branch's accounts add up to those accounts' history");
  for (size_t i = 0; i < books.branches.books().size(); ++i) {
    const Book& branch = books.branches.books()[i];
    tellers.holds(branch.balance == branch.tellers && branch.balance == branch.history,
                  "branch {} has {}, its tellers {}, its history {}", i + 1, branch.balance, branch.tellers,
                  branch.history);
    accounts.holds(branch.accounts == branch.account_history,
                   "branch {}'s accounts have {}, their history {}", i + 1, branch.accounts,
                   branch.account_history);
  }
  checks.push_back(tellers.result());
  checks.push_back(accounts.result());
}

Check check_histories(const Shelf& shelf, std::string name, const char* what) {
  Condition agree(std::move(name));
  for (size_t i = 0; i < shelf.books().size(); ++i) {
    const Book& book = shelf.books()[i];
    agree.holds(book.balance == book.history, "{} {} has {}, its history {}", what, i + 1, book.balance,
                book.history);
  }
  return agree.result();
}

Check check_complete(const Books& books) {
  Condition complete("population: no branch, teller or account is missing");
  const auto all_exist = [&](const Shelf& shelf, const char* what) {
    for (size_t i = 0; i < shelf.books().size(); ++i)
      complete.holds(shelf.books()[i].exists, "{} {}", what, i + 1);
  };
  all_exist(books.branches, "branch");
  all_exist(books.tellers, "teller");
  all_exist(books.accounts, "account");
  return complete.result();
}

}  // namespace

std::vector<Check> check_books(const RowSource& rows, const Scale& scale, std::optional<int128> conserved) {
  Books books(scale);
  Condition known(
      "numbers: every row is of the population's branches, tellers and accounts, in their branches");
  gather_balances(rows, scale, books, known);
  gather_history(rows, scale, books, known);

  std::vector<Check> checks = {known.result(), check_complete(books)};
  check_branches(books, checks);
  checks.push_back(
      check_histories(books.tellers, "tellers: a teller's balance is the sum of its history", "teller"));
  checks.push_back(
      check_histories(books.accounts, "accounts: an account's balance is the sum of its history", "account"));
  if (conserved.has_value()) {
    Condition sum("total: the accounts' balances add up to what committed calls have added");
    sum.holds(books.total == *conserved, "{} are there, {} should be", static_cast<int64_t>(books.total),
              static_cast<int64_t>(*conserved));
    checks.push_back(sum.result());
  }
  return checks;
}

}  // namespace mneme::tpcb
