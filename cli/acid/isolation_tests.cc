#include "cli/acid/isolation_tests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "cli/acid/isolation_rules.h"
#include "cli/acid/tpcc_statements.h"

namespace mneme {
namespace {

constexpr uint32_t kMostBegins = 1000;

std::string in_district(const char* table, const CustomerKey& key) {
  return fmt::format("{0}_w_id = {1} AND {0}_d_id = {2}", table, key.warehouse, key.district);
}

// T1, and T2 beside it.
struct Contest {
  Course course;
  TextRow first;   // T1's answer
  TextRow second;  // T2's
};

class IsolationTests {
 public:
  IsolationTests(const AcidTarget& target, AcidSession& session, std::mt19937_64& random, AcidReport& report)
      : target_(target), session_(session), random_(random), report_(report) {}

  Result<void> run() {
    RETURN_IF_ERROR(status("3.4.2.1", "Order-Status beside a New-Order", /*rolls_back=*/false));
    RETURN_IF_ERROR(
        status("3.4.2.2", "Order-Status beside a New-Order that is rolled back", /*rolls_back=*/true));
    RETURN_IF_ERROR(orders("3.4.2.3", "two New-Orders", /*rolls_back=*/false));
    RETURN_IF_ERROR(orders("3.4.2.4", "two New-Orders, of which one is rolled back", /*rolls_back=*/true));
    RETURN_IF_ERROR(balance("3.4.2.5", "Payment beside a Delivery", /*rolls_back=*/false));
    RETURN_IF_ERROR(balance("3.4.2.6", "Payment beside a Delivery that is rolled back", /*rolls_back=*/true));
    RETURN_IF_ERROR(prices());
    RETURN_IF_ERROR(phantom_of_delivery());
    return phantom_of_status();
  }

 private:
  CustomerKey customer() { return random_customer(random_, report_.warehouses); }

  Result<std::string> one(const std::string& sql) {
    const Result<TextRow> row = session_.settle(sql);
    if (!row) return row.error();
    return row->empty() ? std::string() : (*row)[0].value_or("");
  }

  // BEGIN and the statements, until no conflict refuses them. The row is the last one's.
  static Result<TextRow> begin(AcidSession& session, const std::vector<std::string>& statements) {
    for (uint32_t attempt = 0; attempt < kMostBegins; ++attempt) {
      Result<bool> done = session.ask("BEGIN");
      for (size_t i = 0; done && *done && i < statements.size(); ++i) done = session.ask(statements[i]);
      if (!done) return done.error();
      if (*done) return session.row();
    }
    return failed("the server refuses {} again and again, with nothing beside it", statements.front());
  }

  // T1 stops before its end, T2 begins, T1 goes on.
  Result<Contest> contend(const std::string& first, bool rolls_back, const std::string& second) {
    // T1's session goes first where this fails: T2 may wait for it.
    std::optional<Beside> beside;
    Result<AcidSession> other = AcidSession::open(target_);
    if (!other) return other.error();
    Result<AcidSession> session = AcidSession::open(target_);
    if (!session) return session.error();
    Contest contest;
    contest.course.rolls_back = rolls_back;
    Result<TextRow> answer = begin(*session, {first});
    if (!answer) return answer.error();
    contest.first = *answer;
    beside.emplace(*std::move(other), std::vector<std::string>{second});
    contest.course.second_was_first = beside->ends_soon(session_);
    const Result<bool> ended = session->ask(rolls_back ? "ROLLBACK" : "COMMIT");
    if (!ended) return ended.error();
    if (!*ended) contest.course.first_refused = session->conflict();
    const Result<TextRow> seen = beside->finish();
    if (!seen) return seen.error();
    contest.second = *seen;
    if (!*ended) {
      answer = session->settle(first);
      if (!answer) return answer.error();
      contest.first = *answer;
    }
    if (contest.first.empty() || contest.second.empty()) {
      return failed("a CALL has answered by no row: the procedures there are not those of tpcc.sql");
    }
    return contest;
  }

  Result<void> status(std::string clause, std::string name, bool rolls_back) {
    const CustomerKey key = customer();
    const std::vector<OrderLine> lines = random_lines(random_);
    const Result<TextRow> before = session_.settle(call_order_status(key));
    if (!before) return before.error();
    const Result<Contest> contest = contend(call_new_order(key, lines), rolls_back, call_order_status(key));
    if (!contest) return contest.error();
    const Result<TextRow> after = session_.settle(call_order_status(key));
    if (!after) return after.error();
    const StatusSeen seen{status_text(*before), entered_text(lines, contest->first),
                          status_text(contest->second), status_text(*after)};
    report_.add(std::move(clause), std::move(name), judge_status(contest->course, seen));
    return {};
  }

  Result<void> orders(std::string clause, std::string name, bool rolls_back) {
    const CustomerKey key = customer();
    const std::vector<OrderLine> lines = random_lines(random_);
    const std::vector<OrderLine> other_lines = random_lines(random_);
    const std::string next = fmt::format("SELECT d_next_o_id FROM district WHERE d_w_id = {} AND d_id = {}",
                                         key.warehouse, key.district);
    OrdersSeen seen;
    Result<std::string> number = one(next);
    if (!number) return number.error();
    seen.next_before = number_of(*number);
    const Result<Contest> contest =
        contend(call_new_order(key, lines), rolls_back, call_new_order(key, other_lines));
    if (!contest) return contest.error();
    number = one(next);
    if (!number) return number.error();
    seen.next_after = number_of(*number);
    seen.first = number_of(contest->first[kNewOrderNumber]);
    seen.second = number_of(contest->second[kNewOrderNumber]);
    // One row for each order that was committed, with the lines that were entered.
    std::vector<std::string> wanted = {fmt::format("{}: {}", seen.second, other_lines.size())};
    if (!rolls_back) {
      wanted.push_back(fmt::format("{}: {}", seen.first, lines.size()));
      if (seen.first < seen.second) std::swap(wanted[0], wanted[1]);
    }
    const Result<std::vector<TextRow>> rows = session_.rows(fmt::format(
        "SELECT o_id, count(*) FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND "
        "ol_o_id = o_id WHERE {} AND o_c_id = {} AND o_id >= {} GROUP BY o_id ORDER BY o_id",
        in_district("o", key), key.number, seen.next_before));
    if (!rows) return rows.error();
    std::vector<std::string> found;
    for (const TextRow& row : *rows) found.push_back(fmt::format("{}: {}", *row[0], *row[1]));
    if (found != wanted) {
      seen.faults = fmt::format("orders and their numbers of lines are {}, not {}", fmt::join(found, ", "),
                                fmt::join(wanted, ", "));
    }
    report_.add(std::move(clause), std::move(name), judge_orders(contest->course, seen));
    return {};
  }

  Result<void> balance(std::string clause, std::string name, bool rolls_back) {
    // The customer whose order the Delivery is about to take.
    CustomerKey key = customer();
    const Result<std::string> order =
        one("SELECT min(no_o_id) FROM new_order WHERE " + in_district("no", key));
    if (!order) return order.error();
    if (order->empty()) return failed("the target has no new order in a district: load it anew");
    const Result<std::string> owner =
        one(fmt::format("SELECT o_c_id FROM orders WHERE {} AND o_id = {}", in_district("o", key), *order));
    if (!owner) return owner.error();
    key.number = number_of(*owner);
    const std::string read = "SELECT c_balance FROM customer WHERE " + key.where();
    const Result<std::string> amount = one(fmt::format(
        "SELECT sum(ol_amount) FROM order_line WHERE {} AND ol_o_id = {}", in_district("ol", key), *order));
    if (!amount) return amount.error();
    BalanceSeen seen;
    Result<std::string> balance = one(read);
    if (!balance) return balance.error();
    seen.before = hundredths_of(*balance);
    seen.delivered = hundredths_of(*amount);
    seen.paid = std::uniform_int_distribution<int64_t>(100, 500'000)(random_);
    const Result<Contest> contest =
        contend(call_delivery(key.warehouse), rolls_back, call_payment(key, "", seen.paid));
    if (!contest) return contest.error();
    const std::vector<int64_t> delivered = delivered_orders(contest->first);
    const auto district = static_cast<size_t>(key.district);
    if (delivered.size() < district || delivered[district - 1] != number_of(*order))
      return failed(
          "the Delivery took another order than {}, the oldest: does someone else change the tables?",
          *order);
    balance = one(read);
    if (!balance) return balance.error();
    seen.seen = hundredths_of(contest->second[kPaymentBalance]);
    seen.after = hundredths_of(*balance);
    report_.add(std::move(clause), std::move(name), judge_balance(contest->course, seen));
    return {};
  }

  // 3.4.2.7. T2 is a New-Order taken apart into its statements.
  class NewOrderSteps {
   public:
    NewOrderSteps(AcidSession& session, const CustomerKey& key) : session_(session), key_(key) {}

    // Each returns false once T2 was refused.
    Result<bool> enter(size_t lines) {
      for (const std::string& sql :
           {std::string("BEGIN"), fmt::format("SELECT w_tax FROM warehouse WHERE w_id = {}", key_.warehouse),
            "SELECT c_discount, c_last, c_credit FROM customer WHERE " + key_.where(),
            fmt::format("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = {} AND d_id = {} "
                        "RETURNING d_next_o_id - 1",
                        key_.warehouse, key_.district)}) {
        const Result<bool> done = session_.ask(sql);
        if (!done || !*done) return done;
      }
      order_ = number_of(session_.row().empty() ? std::nullopt : session_.row()[0]);
      const Result<bool> done = session_.ask(
          fmt::format("INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, "
                      "o_all_local) VALUES ({}, {}, {}, {}, '2026-06-01 12:00:00', NULL, {}, 1)",
                      key_.warehouse, key_.district, order_, key_.number, lines));
      if (!done || !*done) return done;
      return session_.ask(fmt::format("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES ({}, {}, {})",
                                      key_.warehouse, key_.district, order_));
    }
    Result<bool> read_price(int64_t item, int64_t& hundredths) {
      Result<bool> done = session_.ask(fmt::format("SELECT i_price FROM item WHERE i_id = {}", item));
      if (done && *done) {
        price_ = session_.row().empty() ? "0" : session_.row()[0].value_or("0");
        hundredths = hundredths_of(price_);
      }
      return done;
    }
    // One of the item whose price was read last.
    Result<bool> add_line(int64_t item) {
      const Result<bool> done =
          session_.ask(fmt::format("UPDATE stock SET s_quantity = CASE WHEN s_quantity >= 11 THEN s_quantity "
                                   "- 1 ELSE s_quantity + 90 END, "
                                   "s_ytd = s_ytd + 1, s_order_cnt = s_order_cnt + 1 WHERE s_w_id = {} AND "
                                   "s_i_id = {} RETURNING s_dist_01",
                                   key_.warehouse, item));
      if (!done || !*done) return done;
      const std::string dist = session_.row().empty() ? "" : session_.row()[0].value_or("");
      return session_.ask(fmt::format(
          "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, "
          "ol_delivery_d, "
          "ol_quantity, ol_amount, ol_dist_info) VALUES ({0}, {1}, {2}, {3}, {4}, {0}, NULL, 1, {5}, {6})",
          key_.warehouse, key_.district, order_, ++line_, item, price_, sql_quoted(dist)));
    }
    Result<bool> commit() { return session_.ask("COMMIT"); }

   private:
    AcidSession& session_;
    const CustomerKey& key_;
    int64_t order_ = 0;
    int64_t line_ = 0;
    std::string price_;
  };

  // The items of T2, in order: x, y, x. `stop` is called behind the first price. Returns false if T2 was
  // refused.
  Result<bool> order_items(AcidSession& session, const CustomerKey& key, int64_t x, int64_t y,
                           const std::function<void()>& stop, std::array<int64_t, 3>& prices) {
    NewOrderSteps steps(session, key);
    Result<bool> done = steps.enter(prices.size());
    const std::array items = {x, y, x};
    for (size_t i = 0; done && *done && i < items.size(); ++i) {
      done = steps.read_price(items[i], prices[i]);
      if (i == 0) stop();
      if (done && *done) done = steps.add_line(items[i]);
    }
    if (done && *done) done = steps.commit();
    return done;
  }

  Result<std::array<int64_t, 2>> read_prices(int64_t x, int64_t y) {
    std::array<int64_t, 2> prices{};
    for (size_t i = 0; i < 2; ++i) {
      const Result<std::string> price =
          one(fmt::format("SELECT i_price FROM item WHERE i_id = {}", i == 0 ? x : y));
      if (!price) return price.error();
      prices[i] = hundredths_of(*price);
    }
    return prices;
  }

  Result<void> prices() {
    const CustomerKey key = customer();
    const int64_t x = random_lines(random_).front().item;
    const int64_t y = x == 1 ? 2 : x - 1;
    PricesSeen seen;
    const Result<std::array<int64_t, 2>> before = read_prices(x, y);
    if (!before) return before.error();
    seen.before = *before;
    // Halved where ten percent more would be too long for the column.
    std::vector<std::string> raise;
    for (const int64_t item : {x, y}) {
      raise.push_back(
          fmt::format("UPDATE item SET i_price = CASE WHEN i_price < 900 THEN i_price * 1.1 ELSE i_price / 2 "
                      "END WHERE i_id = {} RETURNING i_price",
                      item));
    }
    std::optional<Beside> change;
    Result<AcidSession> changing = AcidSession::open(target_);
    if (!changing) return changing.error();
    Result<AcidSession> session = AcidSession::open(target_);
    if (!session) return session.error();
    bool changed_meanwhile = false;
    const auto begin_change = [&] {
      if (change) return;
      change.emplace(*std::move(changing), raise);
      changed_meanwhile = change->ends_soon(session_);
    };
    const Result<bool> done = order_items(*session, key, x, y, begin_change, seen.read);
    if (!done) return done.error();
    if (!*done) seen.refused = session->conflict();
    if (!change) begin_change();
    const Result<TextRow> changed = change->finish();
    if (!changed) return changed.error();
    if (changed->size() != 2)
      return failed("the target lacks the item {} or {}, which TPC-C's population has", x, y);
    seen.changed = {hundredths_of((*changed)[0]), hundredths_of((*changed)[1])};
    bool ordered = *done;
    for (uint32_t attempt = 0; !ordered; ++attempt) {
      if (attempt == kMostBegins)
        return failed("the server refuses a New-Order again and again, with nothing beside it");
      const Result<bool> again = order_items(
          *session, key, x, y, [] {}, seen.again);
      if (!again) return again.error();
      ordered = *again;
    }
    const Result<std::array<int64_t, 2>> after = read_prices(x, y);
    if (!after) return after.error();
    seen.after = *after;
    AcidFinding finding = judge_prices(seen);
    finding.detail += changed_meanwhile ? "; T3 did not wait" : "; T3 waited";
    report_.add("3.4.2.7", "a New-Order reads prices twice while they change", finding);
    return {};
  }

  // T1 reads, a New-Order comes between, T1 reads again.
  Result<PhantomSeen> read_twice(const std::string& read, const CustomerKey& key) {
    const std::string order = call_new_order(key, random_lines(random_));
    std::optional<Beside> beside;
    Result<AcidSession> other = AcidSession::open(target_);
    if (!other) return other.error();
    Result<AcidSession> session = AcidSession::open(target_);
    if (!session) return session.error();
    const auto shown = [&] {
      return session->row().empty() ? std::string() : session->row()[0].value_or("");
    };
    PhantomSeen seen;
    const Result<TextRow> first = begin(*session, {read});
    if (!first) return first.error();
    seen.first = shown();
    beside.emplace(*std::move(other), std::vector<std::string>{order});
    (void)beside->ends_soon(session_);
    Result<bool> done = session->ask(read);
    if (done && *done) {
      seen.second = shown();
      done = session->ask("COMMIT");
    }
    if (!done) return done.error();
    if (!*done) seen.refused = session->conflict();
    const Result<TextRow> added = beside->finish();
    if (!added) return added.error();
    if (added->empty())
      return failed("a CALL has answered by no row: the procedures there are not those of tpcc.sql");
    seen.added = (*added)[kNewOrderNumber].value_or("");
    const Result<std::string> again = one(read);
    if (!again) return again.error();
    seen.again = *again;
    return seen;
  }

  Result<void> phantom_of_delivery() {
    const CustomerKey key = customer();
    const std::string rows = "FROM new_order WHERE " + in_district("no", key);
    // The district's new orders are taken away for the test (3.4.2.8, step 1).
    const Result<std::vector<TextRow>> taken = session_.rows("SELECT no_o_id " + rows);
    if (!taken) return taken.error();
    const Result<TextRow> removed = session_.settle("DELETE " + rows);
    if (!removed) return removed.error();
    const Result<PhantomSeen> seen = read_twice("SELECT no_o_id " + rows + " ORDER BY no_o_id LIMIT 1", key);
    std::vector<std::string> back;
    if (taken) {
      for (const TextRow& row : *taken)
        back.push_back(fmt::format("({}, {}, {})", key.warehouse, key.district, row[0].value_or("")));
    }
    if (!back.empty()) {
      const Result<TextRow> restored = session_.settle(
          fmt::format("INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES {}", fmt::join(back, ", ")));
      if (!restored) return restored.error();
    }
    if (!seen) return seen.error();
    report_.add("3.4.2.8", "a Delivery finds no New-Order that comes meanwhile", judge_phantom(*seen));
    return {};
  }

  Result<void> phantom_of_status() {
    const CustomerKey key = customer();
    const std::string read =
        fmt::format("SELECT o_id FROM orders WHERE {} AND o_c_id = {} ORDER BY o_id DESC LIMIT 1",
                    in_district("o", key), key.number);
    const Result<PhantomSeen> seen = read_twice(read, key);
    if (!seen) return seen.error();
    report_.add("3.4.2.9", "an Order-Status finds no New-Order that comes meanwhile", judge_phantom(*seen));
    return {};
  }

  const AcidTarget& target_;
  AcidSession& session_;  // for what is read and done with nothing beside it
  std::mt19937_64& random_;
  AcidReport& report_;
};

}  // namespace

Result<void> test_isolation(const AcidTarget& target, std::mt19937_64& random, AcidReport& report) {
  Result<AcidSession> session = AcidSession::open(target);
  if (!session) return session.error();
  return IsolationTests(target, *session, random, report).run();
}

}  // namespace mneme
