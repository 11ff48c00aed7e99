#include "workloads/tpcc/tpcc_checks.h"

#include <algorithm>
#include <compare>
#include <unordered_map>

#include "workloads/shared/consistency.h"

namespace mneme::tpcc {
namespace {

// A warehouse, a district of it, or a customer or an order of the district.
struct Key {
  int64_t warehouse = 0;
  int64_t district = 0;
  int64_t number = 0;

  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    return std::hash<int64_t>{}((key.warehouse << 40) ^ (key.district << 32) ^ key.number);
  }
};

std::string to_string(const Key& key) {
  std::string text = fmt::format("warehouse {}", key.warehouse);
  if (key.district != 0) text += fmt::format(", district {}", key.district);
  if (key.number != 0) text += fmt::format(", number {}", key.number);
  return text;
}

template <typename Facts>
using ByKey = std::unordered_map<Key, Facts, KeyHash>;

// Money is in hundredths throughout.
struct WarehouseFacts {
  int128 ytd = 0;
  int128 districts_ytd = 0;
  int128 payments = 0;
};

struct DistrictFacts {
  int128 ytd = 0;
  int128 payments = 0;
  int64_t next_order = 0;
  int64_t orders = 0;
  int64_t newest_order = 0;
  int64_t lines_announced = 0;  // by the orders
  int64_t lines = 0;
  int64_t new_orders = 0;
  int64_t oldest_new_order = 0;
  int64_t newest_new_order = 0;
  int64_t deliveries = 0;
};

struct OrderFacts {
  bool exists = false;
  bool delivered = false;  // it has a carrier
  bool is_new = false;
  int64_t customer = 0;
  int64_t lines_announced = 0;
  int64_t lines = 0;
  int64_t lines_delivered = 0;
  int128 amount_delivered = 0;
};

struct CustomerFacts {
  int128 balance = 0;
  int128 ytd_payment = 0;
  int128 payments = 0;
  int128 amount_delivered = 0;
};

// All that the conditions speak of, gathered in one pass over each table.
struct Facts {
  ByKey<WarehouseFacts> warehouses;
  ByKey<DistrictFacts> districts;
  ByKey<OrderFacts> orders;
  ByKey<CustomerFacts> customers;
};

void gather_warehouses(const RowSource& rows, Facts& facts) {
  scan_columns(rows, "warehouse", {"w_id", "w_ytd"}, [&](std::span<const Value> row) {
    facts.warehouses[{row[0].as_int()}].ytd = row[1].as_numeric();
  });
  scan_columns(rows, "district", {"d_w_id", "d_id", "d_ytd", "d_next_o_id"}, [&](std::span<const Value> row) {
    DistrictFacts& district = facts.districts[{row[0].as_int(), row[1].as_int()}];
    district.ytd = row[2].as_numeric();
    district.next_order = row[3].as_int();
    facts.warehouses[{row[0].as_int()}].districts_ytd += district.ytd;
  });
}

void gather_customers(const RowSource& rows, Facts& facts) {
  scan_columns(
      rows, "customer", {"c_w_id", "c_d_id", "c_id", "c_balance", "c_ytd_payment", "c_delivery_cnt"},
      [&](std::span<const Value> row) {
        CustomerFacts& customer = facts.customers[{row[0].as_int(), row[1].as_int(), row[2].as_int()}];
        customer.balance = row[3].as_numeric();
        customer.ytd_payment = row[4].as_numeric();
        facts.districts[{row[0].as_int(), row[1].as_int()}].deliveries += row[5].as_int();
      });
  scan_columns(rows, "history", {"h_w_id", "h_d_id", "h_c_w_id", "h_c_d_id", "h_c_id", "h_amount"},
               [&](std::span<const Value> row) {
                 const int128 amount = row[5].as_numeric();
                 facts.warehouses[{row[0].as_int()}].payments += amount;
                 facts.districts[{row[0].as_int(), row[1].as_int()}].payments += amount;
                 facts.customers[{row[2].as_int(), row[3].as_int(), row[4].as_int()}].payments += amount;
               });
}

void gather_orders(const RowSource& rows, Facts& facts) {
  scan_columns(rows, "orders", {"o_w_id", "o_d_id", "o_id", "o_c_id", "o_carrier_id", "o_ol_cnt"},
               [&](std::span<const Value> row) {
                 OrderFacts& order = facts.orders[{row[0].as_int(), row[1].as_int(), row[2].as_int()}];
                 order.exists = true;
                 order.customer = row[3].as_int();
                 order.delivered = !row[4].is_null();
                 order.lines_announced = row[5].as_int();
                 DistrictFacts& district = facts.districts[{row[0].as_int(), row[1].as_int()}];
                 ++district.orders;
                 district.newest_order = std::max(district.newest_order, row[2].as_int());
                 district.lines_announced += order.lines_announced;
               });
  scan_columns(rows, "new_order", {"no_w_id", "no_d_id", "no_o_id"}, [&](std::span<const Value> row) {
    const int64_t number = row[2].as_int();
    facts.orders[{row[0].as_int(), row[1].as_int(), number}].is_new = true;
    DistrictFacts& district = facts.districts[{row[0].as_int(), row[1].as_int()}];
    district.oldest_new_order =
        district.new_orders == 0 ? number : std::min(district.oldest_new_order, number);
    district.newest_new_order = std::max(district.newest_new_order, number);
    ++district.new_orders;
  });
  scan_columns(rows, "order_line", {"ol_w_id", "ol_d_id", "ol_o_id", "ol_delivery_d", "ol_amount"},
               [&](std::span<const Value> row) {
                 OrderFacts& order = facts.orders[{row[0].as_int(), row[1].as_int(), row[2].as_int()}];
                 ++order.lines;
                 ++facts.districts[{row[0].as_int(), row[1].as_int()}].lines;
                 if (row[3].is_null()) return;
                 ++order.lines_delivered;
                 order.amount_delivered += row[4].as_numeric();
               });
  for (const auto& [key, order] : facts.orders) {
    if (!order.exists) continue;
    facts.customers[{key.warehouse, key.district, order.customer}].amount_delivered += order.amount_delivered;
  }
}

void check_warehouses(const Facts& facts, std::vector<Check>& checks) {
  Condition districts("3.3.2.1: a warehouse's W_YTD is the sum of its D_YTD");
  Condition payments("3.3.2.8: a warehouse's W_YTD is the sum of its H_AMOUNT");
  for (const auto& [key, warehouse] : facts.warehouses) {
    districts.holds(warehouse.ytd == warehouse.districts_ytd, "{}: W_YTD {}, sum of D_YTD {}", to_string(key),
                    money(warehouse.ytd), money(warehouse.districts_ytd));
    payments.holds(warehouse.ytd == warehouse.payments, "{}: W_YTD {}, sum of H_AMOUNT {}", to_string(key),
                   money(warehouse.ytd), money(warehouse.payments));
  }
  checks.push_back(districts.result());
  checks.push_back(payments.result());
}

void check_districts(const Facts& facts, const Scale& scale, std::vector<Check>& checks) {
  Condition next(
      "3.3.2.2: a district's D_NEXT_O_ID - 1 is its highest O_ID, and its highest NO_O_ID if it has any");
  Condition dense("3.3.2.3: a district's NO_O_ID leave no gap");
  Condition lines("3.3.2.4: the sum of a district's O_OL_CNT is the number of its order lines");
  Condition payments("3.3.2.9: a district's D_YTD is the sum of its H_AMOUNT");
  Condition delivered("3.3.2.11: a district's orders less its new orders are those delivered");
  for (const auto& [key, d] : facts.districts) {
    const bool newest_agrees = d.new_orders == 0 || d.newest_new_order == d.next_order - 1;
    next.holds(d.newest_order == d.next_order - 1 && newest_agrees,
               "{}: D_NEXT_O_ID {}, highest O_ID {}, highest NO_O_ID {}", to_string(key), d.next_order,
               d.newest_order, d.newest_new_order);
    dense.holds(d.new_orders == 0 || d.newest_new_order - d.oldest_new_order + 1 == d.new_orders,
                "{}: {} rows from NO_O_ID {} to {}", to_string(key), d.new_orders, d.oldest_new_order,
                d.newest_new_order);
    lines.holds(d.lines_announced == d.lines, "{}: O_OL_CNT add up to {}, order lines are {}", to_string(key),
                d.lines_announced, d.lines);
    payments.holds(d.ytd == d.payments, "{}: D_YTD {}, sum of H_AMOUNT {}", to_string(key), money(d.ytd),
                   money(d.payments));
    delivered.holds(d.orders - d.new_orders == scale.delivered_orders() + d.deliveries,
                    "{}: {} orders, {} new orders, {} delivered at first, {} since", to_string(key), d.orders,
                    d.new_orders, scale.delivered_orders(), d.deliveries);
  }
  for (const Condition* condition : {&next, &dense, &lines, &payments, &delivered}) {
    checks.push_back(condition->result());
  }
}

void check_orders(const Facts& facts, std::vector<Check>& checks) {
  Condition carrier("3.3.2.5: an order lacks a carrier if and only if it is a new order");
  Condition lines("3.3.2.6: an order has O_OL_CNT order lines");
  Condition delivery("3.3.2.7: an order line lacks a delivery date if and only if its order lacks a carrier");
  for (const auto& [key, order] : facts.orders) {
    carrier.holds(order.exists && order.delivered != order.is_new, "{}: {}, {} carrier, {} new order",
                  to_string(key), order.exists ? "an order" : "no order", order.delivered ? "a" : "no",
                  order.is_new ? "a" : "no");
    lines.holds(order.lines == order.lines_announced, "{}: O_OL_CNT {}, order lines {}", to_string(key),
                order.lines_announced, order.lines);
    delivery.holds(order.lines_delivered == (order.delivered ? order.lines : 0),
                   "{}: {} carrier, {} of {} lines have a delivery date", to_string(key),
                   order.delivered ? "a" : "no", order.lines_delivered, order.lines);
  }
  for (const Condition* condition : {&carrier, &lines, &delivery}) checks.push_back(condition->result());
}

void check_customers(const Facts& facts, std::vector<Check>& checks) {
  Condition balance("3.3.2.10: a customer's C_BALANCE is the amount delivered less the sum of H_AMOUNT");
  Condition total("3.3.2.12: a customer's C_BALANCE + C_YTD_PAYMENT is the amount delivered");
  for (const auto& [key, customer] : facts.customers) {
    balance.holds(customer.balance == customer.amount_delivered - customer.payments,
                  "{}: C_BALANCE {}, amount delivered {}, sum of H_AMOUNT {}", to_string(key),
                  money(customer.balance), money(customer.amount_delivered), money(customer.payments));
    total.holds(customer.balance + customer.ytd_payment == customer.amount_delivered,
                "{}: C_BALANCE {}, C_YTD_PAYMENT {}, amount delivered {}", to_string(key),
                money(customer.balance), money(customer.ytd_payment), money(customer.amount_delivered));
  }
  checks.push_back(balance.result());
  checks.push_back(total.result());
}

}  // namespace

std::vector<Check> check_conditions(const RowSource& rows, const Scale& scale) {
  Facts facts;
  gather_warehouses(rows, facts);
  gather_customers(rows, facts);
  gather_orders(rows, facts);

  std::vector<Check> checks;
  check_warehouses(facts, checks);
  check_districts(facts, scale, checks);
  check_orders(facts, checks);
  check_customers(facts, checks);
  // In the order of the clauses: "3.3.2.9" before "3.3.2.10".
  std::ranges::sort(checks, {}, [](const Check& check) { return std::stoi(check.name.substr(6)); });
  return checks;
}

}  // namespace mneme::tpcc
