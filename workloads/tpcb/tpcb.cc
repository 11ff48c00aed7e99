#include "workloads/tpcb/tpcb.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/check.h"
#include "workloads/shared/embedded_sql.h"
#include "workloads/shared/row_builder.h"
#include "workloads/tpcb/tpcb_checks.h"

namespace mneme::tpcb {
namespace {

constexpr int64_t kPartAccounts = 10'000;

// The fillers of tpcb.sql, as long as their columns.
std::string filler(size_t length) {
  return std::string(length, 'x');
}

}  // namespace

Result<std::unique_ptr<Workload>> Tpcb::make(const Scale& scale, double skew, uint64_t seed,
                                             std::string_view mix) {
  const Result<Mix> parsed = Mix::parse(mix, default_mix());
  if (!parsed.ok()) return parsed.error();
  RETURN_IF_ERROR(Zipf::check(skew));
  if (scale.accounts() > std::numeric_limits<int32_t>::max()) {
    return invalid_argument(
        "{} branches have {} accounts, more than account numbers of 4 bytes: choose fewer", scale.branches,
        scale.accounts());
  }
  return std::unique_ptr<Workload>(new Tpcb(scale, skew, seed));
}

Tpcb::Tpcb(const Scale& scale, double skew, uint64_t seed)
    : scale_(scale), skew_(skew), choice_(scale, skew), seed_(seed) {}

std::string_view Tpcb::sql() const {
  return embedded_sql("tpcb");
}

int64_t Tpcb::parts_per_branch() const {
  return (scale_.accounts_per_branch + kPartAccounts - 1) / kPartAccounts;
}

uint32_t Tpcb::part_count() const {
  return static_cast<uint32_t>(scale_.branches * parts_per_branch());
}

// A branch's first part has its own row and its tellers' besides accounts. All balances begin at 0, and
// history empty.
void Tpcb::populate(uint32_t part, RowSink sink) const {
  RowBuilder row;
  const int64_t branch = part / parts_per_branch() + 1;
  const int64_t part_of_branch = part % parts_per_branch();
  if (part_of_branch == 0) {
    sink(id_of(Table::kBranch), row.start().integer(branch).integer(0).text(filler(88)).row());
    for (int64_t i = 1; i <= kTellersPerBranch; ++i) {
      row.start().integer((branch - 1) * kTellersPerBranch + i).integer(branch).integer(0).text(filler(84));
      sink(id_of(Table::kTeller), row.row());
    }
  }
  const int64_t first = part_of_branch * kPartAccounts + 1;
  const int64_t last = std::min(first + kPartAccounts - 1, scale_.accounts_per_branch);
  const std::string account_filler = filler(84);
  for (int64_t i = first; i <= last; ++i) {
    row.start()
        .integer((branch - 1) * scale_.accounts_per_branch + i)
        .integer(branch)
        .integer(0)
        .text(account_filler);
    sink(id_of(Table::kAccount), row.row());
  }
}

std::unique_ptr<CallGenerator> Tpcb::generator(const StreamId& stream) const {
  return std::make_unique<Generator>(scale_, choice_, seed_, stream);
}

// Its one procedure has all of the calls.
std::vector<MixShare> Tpcb::mix() const {
  return {default_mix().begin(), default_mix().end()};
}

BookRules Tpcb::book_rules() const {
  const auto account_of = [](const Call& call) { return call.arguments[0].scalar.as_int(); };
  const auto branch_of = [](const Call& call) { return call.arguments[2].scalar.as_int(); };
  BookRules rules{.source = "TPC-B, revision 2.0",
                  .mix = {default_mix().begin(), default_mix().end()},
                  .most_per_second = static_cast<double>(scale_.branches),
                  .longest_response_seconds = 2};
  if (scale_.branches > 1) {
    rules.choices.push_back({"accounts of another branch than the teller's", 15,
                             [scale = scale_, account_of, branch_of](const Call& call) {
                               return scale.branch_of_account(account_of(call)) != branch_of(call);
                             }});
    rules.choices.push_back({"tellers of branch 1", 100.0 / static_cast<double>(scale_.branches),
                             [branch_of](const Call& call) { return branch_of(call) == 1; }});
  }
  rules.choices.push_back(
      {"accounts in the first half of their branch", 50, [scale = scale_, account_of](const Call& call) {
         return (account_of(call) - 1) % scale.accounts_per_branch < scale.accounts_per_branch / 2;
       }});
  rules.choices.push_back({"deltas below half of the lowest one", 25, [](const Call& call) {
                             return call.arguments[Generator::kDeltaArgument].scalar.as_int() <
                                    -kHighestDelta / 2;
                           }});
  return rules;
}

int128 Tpcb::conserved_delta(const Call& call, std::span<const Argument>) const {
  return call.arguments[Generator::kDeltaArgument].scalar.as_int();
}

std::vector<Check> Tpcb::check(const RowSource& rows, std::optional<int128> conserved) const {
  return check_books(rows, scale_, conserved);
}

}  // namespace mneme::tpcb
