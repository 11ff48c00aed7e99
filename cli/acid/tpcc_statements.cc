#include "cli/acid/tpcc_statements.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "workloads/tpcc/tpcc_schema.h"

namespace mneme {
namespace {

constexpr const char* kNow = "'2026-06-01 12:00:00'";
constexpr int64_t kMostQuantity = 10;
constexpr size_t kFewestLines = 5;
constexpr size_t kMostLines = 15;

int64_t between(std::mt19937_64& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

std::string nulls(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += ", NULL";
  return text;
}

std::string numbers(const std::vector<OrderLine>& lines, int64_t OrderLine::*member) {
  std::vector<int64_t> listed;
  for (const OrderLine& line : lines) listed.push_back(line.*member);
  return fmt::format("{{{}}}", fmt::join(listed, ","));
}

std::string order_text(const std::string& number, const std::string& items, const std::string& quantities,
                       const std::string& amounts) {
  return fmt::format("order {}: items {}, quantities {}, amounts {}", number, items, quantities, amounts);
}

}  // namespace

std::string CustomerKey::text() const {
  return fmt::format("warehouse {}, district {}, customer {}", warehouse, district, number);
}

std::string CustomerKey::where() const {
  return fmt::format("c_w_id = {} AND c_d_id = {} AND c_id = {}", warehouse, district, number);
}

CustomerKey random_customer(std::mt19937_64& random, int64_t warehouses) {
  return {between(random, 1, warehouses), between(random, 1, tpcc::kDistricts),
          between(random, 1, tpcc::Scale{}.customers)};
}

std::vector<OrderLine> random_lines(std::mt19937_64& random) {
  std::vector<OrderLine> lines(static_cast<size_t>(between(random, kFewestLines, kMostLines)));
  for (OrderLine& line : lines)
    line = {between(random, 1, tpcc::Scale{}.items), between(random, 1, kMostQuantity)};
  return lines;
}

std::string call_new_order(const CustomerKey& customer, const std::vector<OrderLine>& lines) {
  const std::vector<int64_t> suppliers(lines.size(), customer.warehouse);
  return fmt::format("CALL new_order({}, {}, {}, {}, '{}', '{{{}}}', '{}'{})", customer.warehouse,
                     customer.district, customer.number, kNow, numbers(lines, &OrderLine::item),
                     fmt::join(suppliers, ","), numbers(lines, &OrderLine::quantity),
                     nulls(kNewOrderResults));
}

std::string call_payment(const CustomerKey& customer, const std::string& last_name, int64_t hundredths) {
  constexpr size_t kResults = 26;
  const std::string who = last_name.empty() ? fmt::format("{}, NULL", customer.number)
                                            : fmt::format("NULL, {}", sql_quoted(last_name));
  return fmt::format("CALL payment({0}, {1}, {0}, {1}, {2}, {3}.{4:02}, {5}{6})", customer.warehouse,
                     customer.district, who, hundredths / 100, hundredths % 100, kNow, nulls(kResults));
}

std::string call_order_status(const CustomerKey& customer) {
  return fmt::format("CALL order_status({}, {}, {}, NULL{})", customer.warehouse, customer.district,
                     customer.number, nulls(kStatusResults));
}

std::string status_text(const TextRow& status) {
  if (status.size() != kStatusResults) return "no answer";
  const auto text = [&](size_t place) { return status[place].value_or("none"); };
  return order_text(text(5), text(9), text(10), text(11));
}

std::string entered_text(const std::vector<OrderLine>& lines, const TextRow& order) {
  if (order.size() != kNewOrderResults) return "no order";
  return order_text(order[kNewOrderNumber].value_or("none"), numbers(lines, &OrderLine::item),
                    numbers(lines, &OrderLine::quantity), order[kNewOrderAmounts].value_or("none"));
}

std::string call_delivery(int64_t warehouse) {
  return fmt::format("CALL delivery({}, 7, {}, NULL)", warehouse, kNow);
}

std::vector<int64_t> delivered_orders(const TextRow& delivery) {
  std::vector<int64_t> orders;
  std::string_view text = delivery.empty() || !delivery[0] ? "" : std::string_view(*delivery[0]);
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",}", 1), text.size());
    const std::string_view each = text.substr(1, end - 1);
    if (!each.empty()) orders.push_back(each == "NULL" ? 0 : number_of(std::string(each)));
    text.remove_prefix(end);
    if (text == "}") break;
  }
  return orders;
}

int64_t hundredths_of(const std::optional<std::string>& text) {
  std::string digits = text.value_or("0");
  std::erase(digits, '.');
  return number_of(digits);
}

int64_t number_of(const std::optional<std::string>& text) {
  int64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

std::string sql_quoted(const std::string& text) {
  std::string literal = "'";
  for (const char c : text) {
    literal += c;
    if (c == '\'') literal += c;
  }
  return literal + "'";
}

}  // namespace mneme
