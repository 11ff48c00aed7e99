// The rules by which TPC-C's isolation tests judge what was seen (clause 3.4.2): pure functions, without a
// server.
//
// T1 has stopped before its end when T2 runs. A server may make T2 wait, or let it go on and refuse one of
// the two at its end; then that one is made again. Whichever it does, what committed must be as if the two
// had run one after the other. The clauses' own words ("T2 waits") are of a server that locks; what they
// verify at the end holds here in both orders.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cli/acid/acid_report.h"

namespace mneme {

// Which of the two was first, as far as it was seen.
struct Course {
  bool rolls_back = false;  // T1, on purpose
  bool second_was_first =
      false;  // T2 had its answer before T1's end began: it ran before T1, or T1 not at all
  std::string first_refused =
      {};  // the SQLSTATE with which T1's COMMIT was refused; T1 was made again behind T2

  // "T2 waited for T1", and the like.
  std::string text() const;
};

// 3.4.2.1, 3.4.2.2: T1 is a New-Order, T2 an Order-Status of its customer. Each text is an order and its
// lines.
struct StatusSeen {
  std::string before;      // T1 had not begun
  std::string entered;     // what T1 entered
  std::string seen;        // by T2
  std::string afterwards;  // both had ended
};
AcidFinding judge_status(const Course& course, const StatusSeen& seen);

// 3.4.2.3, 3.4.2.4: T1 and T2 are New-Orders of one customer.
struct OrdersSeen {
  int64_t next_before = 0;  // D_NEXT_O_ID
  int64_t first = 0;        // T1's order number
  int64_t second = 0;
  int64_t next_after = 0;
  std::string faults;  // of the orders' rows; empty: those that committed are there, and no other
};
AcidFinding judge_orders(const Course& course, const OrdersSeen& seen);

// 3.4.2.5, 3.4.2.6: T1 is a Delivery, T2 a Payment of a customer whose order T1 delivers. In hundredths.
struct BalanceSeen {
  int64_t before = 0;
  int64_t delivered = 0;  // the order's amount
  int64_t paid = 0;
  int64_t seen = 0;  // T2's answer
  int64_t after = 0;
};
AcidFinding judge_balance(const Course& course, const BalanceSeen& seen);

// 3.4.2.7: T2 is a New-Order that reads the price of x, of y and of x again; T3 changes both prices after
// T2's first read. In hundredths.
struct PricesSeen {
  std::array<int64_t, 2> before{};  // of x and y, by T1
  std::array<int64_t, 3> read{};    // by T2's first try; of a refused one what it had read counts for nothing
  std::array<int64_t, 2> changed{};  // to which T3 set them
  std::array<int64_t, 2> after{};    // by T4
  std::string refused;               // the SQLSTATE with which T2's first try was refused; it was made again
  std::array<int64_t, 3> again{};    // by that, behind T3
};
AcidFinding judge_prices(const PricesSeen& seen);

// 3.4.2.8, 3.4.2.9: T1 reads twice, T2 adds a row between that T1 would find. "" stands for no row.
struct PhantomSeen {
  std::string first;  // T1's reads
  std::string second;
  std::string refused;  // the SQLSTATE with which T1 was refused
  std::string again;    // what a read behind both finds
  std::string added;    // by T2
};
AcidFinding judge_phantom(const PhantomSeen& seen);

}  // namespace mneme
