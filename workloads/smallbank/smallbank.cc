#include "workloads/smallbank/smallbank.h"

#include <algorithm>

#include "workloads/shared/consistency.h"
#include "workloads/shared/embedded_sql.h"
#include "workloads/shared/row_builder.h"
#include "workloads/smallbank/smallbank_generator.h"

namespace mneme::smallbank {
namespace {

constexpr int64_t kPartCustomers = 10'000;
constexpr int64_t kLeastBalance = 10'000'00;
constexpr int64_t kMostBalance = 50'000'00;

// Which of a customer's three rows there are, by customer number.
struct CustomerRows {
  uint32_t accounts = 0;
  uint32_t savings = 0;
  uint32_t checking = 0;
};

}  // namespace

Result<std::unique_ptr<Workload>> Smallbank::make(int64_t customers, const Hotspot& hotspot, uint64_t seed,
                                                  std::string_view mix) {
  Result<Mix> parsed = Mix::parse(mix, default_mix());
  if (!parsed.ok()) return parsed.error();
  if (hotspot.percent > 100) {
    return invalid_argument("a hotspot takes 0 to 100 percent of the calls, not {}", hotspot.percent);
  }
  if (hotspot.customers < 2 || hotspot.customers > customers - 2) {
    return invalid_argument(
        "a hotspot of {} customers needs at least two inside and two outside of it, of {} in all",
        hotspot.customers, customers);
  }
  return std::unique_ptr<Workload>(new Smallbank(customers, hotspot, seed, *parsed));
}

Smallbank::Smallbank(int64_t customers, const Hotspot& hotspot, uint64_t seed, Mix mix)
    : customers_(customers), hotspot_(hotspot), seed_(seed), mix_(std::move(mix)) {}

std::string_view Smallbank::sql() const {
  return embedded_sql("smallbank");
}

uint32_t Smallbank::part_count() const {
  return static_cast<uint32_t>((customers_ + kPartCustomers - 1) / kPartCustomers);
}

void Smallbank::populate(uint32_t part, RowSink sink) const {
  Random random({seed_, /*purpose=*/0x10ad, part});
  RowBuilder row;
  const int64_t first = int64_t{part} * kPartCustomers + 1;
  const int64_t last = std::min(first + kPartCustomers - 1, customers_);
  for (int64_t customer = first; customer <= last; ++customer) {
    sink(id_of(Table::kAccount), row.start().text(customer_name(customer)).integer(customer).row());
    for (const Table table : {Table::kSavings, Table::kChecking}) {
      row.start().integer(customer).numeric(random.uniform(kLeastBalance, kMostBalance));
      sink(id_of(table), row.row());
    }
  }
}

std::unique_ptr<CallGenerator> Smallbank::generator(const StreamId& stream) const {
  return std::make_unique<Generator>(customers_, hotspot_, seed_, mix_, stream);
}

std::vector<MixShare> Smallbank::mix() const {
  return mix_.applied_to(default_mix());
}

BookRules Smallbank::book_rules() const {
  const Hotspot paper;
  return {.source = "Alomari and others (ICDE 2008), and H-Store's mix with send_payment",
          .mix = {default_mix().begin(), default_mix().end()},
          .choices = {{.name = fmt::format("calls on the first {} customers", paper.customers),
                       .percent = static_cast<double>(paper.percent),
                       .has = [paper](const Call& call) {
                         // Names are equally long and in the order of their numbers.
                         return call.arguments[0].scalar.as_text() <= customer_name(paper.customers);
                       }}}};
}

int128 Smallbank::conserved_delta(const Call& call, std::span<const Argument> results) const {
  switch (static_cast<Procedure>(call.procedure.value)) {
    case Procedure::kDepositChecking:
    case Procedure::kTransactSavings:
      return call.arguments[1].scalar.as_numeric();
    case Procedure::kWriteCheck:
      return -results[0].scalar.as_numeric();
    case Procedure::kBalance:
    case Procedure::kAmalgamate:
    case Procedure::kSendPayment:
      return 0;
  }
  CHECK(!"a procedure that smallbank.sql does not declare");
  return 0;
}

int128 Smallbank::initial_money() const {
  int128 total = 0;
  for (uint32_t part = 0; part < part_count(); ++part) {
    populate(part, [&](TableId table, std::span<const Value> row) {
      if (table != id_of(Table::kAccount)) total += row[1].as_numeric();
    });
  }
  return total;
}

std::vector<Check> Smallbank::check(const RowSource& rows, std::optional<int128> conserved) const {
  std::vector<CustomerRows> found(static_cast<size_t>(customers_));
  Condition known("customers: every row belongs to one of the population's customers");
  const auto of_customer = [&](std::string_view table, int64_t customer) -> CustomerRows* {
    const bool ok = customer >= 1 && customer <= customers_;
    known.holds(ok, "{} has a row of customer {}, of {} customers", table, customer, customers_);
    return ok ? &found[static_cast<size_t>(customer - 1)] : nullptr;
  };

  Condition covered("savings: no balance is negative");
  int128 total = 0;
  scan_columns(rows, "account", {"a_customer_id"}, [&](std::span<const Value> row) {
    if (CustomerRows* customer = of_customer("account", row[0].as_int())) ++customer->accounts;
  });
  scan_columns(rows, "savings", {"s_customer_id", "s_balance"}, [&](std::span<const Value> row) {
    if (CustomerRows* customer = of_customer("savings", row[0].as_int())) ++customer->savings;
    covered.holds(row[1].as_numeric() >= 0, "customer {} has {}", row[0].as_int(),
                  money(row[1].as_numeric()));
    total += row[1].as_numeric();
  });
  scan_columns(rows, "checking", {"c_customer_id", "c_balance"}, [&](std::span<const Value> row) {
    if (CustomerRows* customer = of_customer("checking", row[0].as_int())) ++customer->checking;
    total += row[1].as_numeric();
  });

  Condition complete("accounts: every customer has one account, one savings and one checking balance");
  for (size_t i = 0; i < found.size(); ++i) {
    const CustomerRows& customer = found[i];
    complete.holds(customer.accounts == 1 && customer.savings == 1 && customer.checking == 1,
                   "customer {} has {}, {} and {}", i + 1, customer.accounts, customer.savings,
                   customer.checking);
  }

  std::vector<Check> checks = {known.result(), complete.result(), covered.result()};
  if (conserved.has_value()) {
    const int128 expected = initial_money() + *conserved;
    Condition sum("money: the sum of all balances is the population's and what committed calls have added");
    sum.holds(total == expected, "{} are there, {} should be", money(total), money(expected));
    checks.push_back(sum.result());
  }
  return checks;
}

}  // namespace mneme::smallbank
