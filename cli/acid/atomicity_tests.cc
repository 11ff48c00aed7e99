#include "cli/acid/atomicity_tests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/acid/tpcc_statements.h"

namespace mneme {
namespace {

// What tpcc.sql raises.
constexpr std::string_view kRaised = "P0001";
// A payment that is refused so often will not get through.
constexpr uint32_t kMostPayments = 1000;

// What a Payment changes, in hundredths where it is money.
struct Ledger {
  int64_t balance = 0;
  int64_t customer_paid = 0;
  int64_t payments = 0;
  int64_t district = 0;
  int64_t warehouse = 0;
  int64_t history = 0;  // rows
  std::string data;     // C_DATA, which a payment of a customer with bad credit changes, too

  bool operator==(const Ledger&) const = default;

  Ledger after_payment(int64_t amount) const {
    return {balance - amount,
            customer_paid + amount,
            payments + 1,
            district + amount,
            warehouse + amount,
            history + 1,
            data};
  }
  std::string text() const {
    return fmt::format(
        "C_BALANCE {}, C_YTD_PAYMENT {}, C_PAYMENT_CNT {}, D_YTD {}, W_YTD {} (in hundredths), {} rows of "
        "HISTORY",
        balance, customer_paid, payments, district, warehouse, history);
  }
};

class AtomicityTests {
 public:
  AtomicityTests(AcidSession& session, std::mt19937_64& random, AcidReport& report)
      : session_(session), random_(random), report_(report) {}

  Result<void> run() {
    RETURN_IF_ERROR(
        payment("3.2.2.1", "a committed Payment is all there", /*by_name=*/false, /*commits=*/true));
    RETURN_IF_ERROR(payment("3.2.2.1", "a committed Payment by last name is all there", /*by_name=*/true,
                            /*commits=*/true));
    RETURN_IF_ERROR(payment("3.2.2.2", "a Payment that is rolled back leaves nothing", /*by_name=*/false,
                            /*commits=*/false));
    return unused_item();
  }

 private:
  Result<Ledger> read(const CustomerKey& key) {
    const std::string district = fmt::format("d_w_id = {} AND d_id = {}", key.warehouse, key.district);
    const Result<TextRow> customer = session_.settle(
        "SELECT c_balance, c_ytd_payment, c_payment_cnt, c_data FROM customer WHERE " + key.where());
    if (!customer) return customer.error();
    const Result<TextRow> others = session_.settle(
        fmt::format("SELECT d_ytd, w_ytd FROM district JOIN warehouse ON w_id = d_w_id WHERE {}", district));
    if (!others) return others.error();
    const Result<TextRow> history = session_.settle("SELECT count(*) FROM history");
    if (!history) return history.error();
    if (customer->size() != 4 || others->size() != 2 || history->size() != 1)
      return failed("the target lacks {}, which TPC-C's population has", key.text());
    return Ledger{hundredths_of((*customer)[0]), hundredths_of((*customer)[1]), number_of((*customer)[2]),
                  hundredths_of((*others)[0]),   hundredths_of((*others)[1]),   number_of((*history)[0]),
                  (*customer)[3].value_or("")};
  }

  // Which customer a Payment by the last name of `key`'s finds: of n in the order of first names the one at
  // n/2, rounded up (2.5.2.2).
  Result<CustomerKey> middle_of_name(const CustomerKey& key, std::string& name) {
    const Result<TextRow> last = session_.settle("SELECT c_last FROM customer WHERE " + key.where());
    if (!last) return last.error();
    name = last->empty() ? "" : (*last)[0].value_or("");
    const Result<std::vector<TextRow>> namesakes = session_.rows(
        fmt::format("SELECT c_id FROM customer WHERE c_w_id = {} AND c_d_id = {} AND c_last = {} "
                    "ORDER BY c_first, c_id",
                    key.warehouse, key.district, sql_quoted(name)));
    if (!namesakes) return namesakes.error();
    if (namesakes->empty()) return failed("the target lacks {}, which TPC-C's population has", key.text());
    CustomerKey found = key;
    found.number = number_of((*namesakes)[(namesakes->size() - 1) / 2][0]);
    return found;
  }

  Result<void> payment(std::string clause, std::string name, bool by_name, bool commits) {
    CustomerKey key = random_customer(random_, report_.warehouses);
    std::string last_name;
    if (by_name) {
      const Result<CustomerKey> found = middle_of_name(key, last_name);
      if (!found) return found.error();
      key = *found;
    }
    const int64_t amount = std::uniform_int_distribution<int64_t>(100, 500'000)(random_);
    const Result<Ledger> before = read(key);
    if (!before) return before.error();
    const std::string call = call_payment(key, last_name, amount);
    bool done = false;
    for (uint32_t attempt = 0; !done; ++attempt) {
      if (attempt == kMostPayments)
        return failed("the server refuses a Payment again and again, with nothing beside it");
      for (const std::string& sql :
           {std::string("BEGIN"), call, std::string(commits ? "COMMIT" : "ROLLBACK")}) {
        const Result<bool> asked = session_.ask(sql);
        if (!asked) return asked.error();
        done = *asked;
        if (!done) break;
      }
    }
    const Result<Ledger> after = read(key);
    if (!after) return after.error();
    Ledger wanted = commits ? before->after_payment(amount) : *before;
    if (commits) wanted.data = after->data;  // as the customer's credit is
    const std::string what = fmt::format("{} paid {}.{:02}", key.text(), amount / 100, amount % 100);
    const bool ok = *after == wanted;
    report_.add(std::move(clause), std::move(name),
                {ok, ok ? what : fmt::format("{}: {}; should be {}", what, after->text(), wanted.text())});
    return {};
  }

  Result<void> unused_item() {
    const CustomerKey key = random_customer(random_, report_.warehouses);
    std::vector<OrderLine> lines = random_lines(random_);
    lines.back().item = -1;
    std::vector<int64_t> items;
    for (const OrderLine& line : lines) items.push_back(line.item);
    const std::string place = fmt::format("{{0}}_w_id = {} AND {{0}}_d_id = {}", key.warehouse, key.district);
    const auto count = [&](const char* table, const char* prefix) {
      return fmt::format("SELECT count(*) FROM {} WHERE {}", table, fmt::format(fmt::runtime(place), prefix));
    };
    // All that a New-Order writes.
    const std::string queries[] = {
        fmt::format("SELECT d_next_o_id FROM district WHERE d_w_id = {} AND d_id = {}", key.warehouse,
                    key.district),
        count("orders", "o"), count("new_order", "no"), count("order_line", "ol"),
        fmt::format("SELECT sum(s_quantity), sum(s_ytd), sum(s_order_cnt) FROM stock WHERE s_w_id = {} AND "
                    "s_i_id IN ({})",
                    key.warehouse, fmt::join(items, ", "))};
    const auto state = [&]() -> Result<std::string> {
      std::string found;
      for (const std::string& query : queries) {
        const Result<TextRow> row = session_.settle(query);
        if (!row) return row.error();
        for (const std::optional<std::string>& value : *row)
          found += (found.empty() ? "" : ", ") + value.value_or("NULL");
      }
      return "D_NEXT_O_ID, the orders, new orders and lines of the district, the quantities, sales and "
             "orders of the items: " +
             found;
    };
    const Result<std::string> before = state();
    if (!before) return before.error();
    const Result<std::string> sqlstate = session_.settle_error(call_new_order(key, lines));
    if (!sqlstate) return sqlstate.error();
    const Result<std::string> after = state();
    if (!after) return after.error();
    const std::string answer =
        sqlstate->empty() ? "it was committed" : "it was refused: SQLSTATE " + *sqlstate;
    const bool ok = *sqlstate == kRaised && *before == *after;
    report_.add("2.4.1.4", "a New-Order with an unused item leaves nothing",
                {ok, ok ? answer : fmt::format("{}; {} before, {} behind it", answer, *before, *after)});
    return {};
  }

  AcidSession& session_;
  std::mt19937_64& random_;
  AcidReport& report_;
};

}  // namespace

Result<void> test_atomicity(const AcidTarget& target, std::mt19937_64& random, AcidReport& report) {
  Result<AcidSession> session = AcidSession::open(target);
  if (!session) return session.error();
  return AtomicityTests(*session, random, report).run();
}

}  // namespace mneme
