// TPC-C's transactions as statements of a client, for tests that stop them in the midst: calls of tpcc.sql's
// procedures, and New-Order taken apart.
//
// Source      TPC Benchmark C, revision 5.11, clauses 2.4 to 2.8; workloads/tpcc/tpcc.sql.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cli/bench/target_connection.h"

namespace mneme {

struct CustomerKey {
  int64_t warehouse = 1;
  int64_t district = 1;
  int64_t number = 1;

  std::string text() const;   // warehouse 1, district 2, customer 3
  std::string where() const;  // c_w_id = 1 AND c_d_id = 2 AND c_id = 3
};

struct OrderLine {
  int64_t item = 1;
  int64_t quantity = 1;
};

// A customer, and items of a new order, at random.
CustomerKey random_customer(std::mt19937_64& random, int64_t warehouses);
std::vector<OrderLine> random_lines(std::mt19937_64& random);

std::string call_new_order(const CustomerKey& customer, const std::vector<OrderLine>& lines);
// Its answer's places.
inline constexpr size_t kNewOrderNumber = 0;
inline constexpr size_t kNewOrderAmounts = 10;
inline constexpr size_t kNewOrderResults = 12;

// By the customer's last name, if `last_name` isn't empty.
std::string call_payment(const CustomerKey& customer, const std::string& last_name, int64_t hundredths);
inline constexpr size_t kPaymentCustomer = 10;
inline constexpr size_t kPaymentBalance = 24;

std::string call_order_status(const CustomerKey& customer);
inline constexpr size_t kStatusResults = 13;
// An order and its lines: "order 3001: items {1,2} ...", from Order-Status' answer, and as a New-Order
// entered it.
std::string status_text(const TextRow& status);
std::string entered_text(const std::vector<OrderLine>& lines, const TextRow& order);

std::string call_delivery(int64_t warehouse);
// The orders of a Delivery's answer, by district from 1; 0: none was left.
std::vector<int64_t> delivered_orders(const TextRow& delivery);

// "12.30" -> 1230. The text is a NUMERIC with two digits behind the point.
int64_t hundredths_of(const std::optional<std::string>& text);
int64_t number_of(const std::optional<std::string>& text);
std::string sql_quoted(const std::string& text);  // as a literal of SQL

}  // namespace mneme
