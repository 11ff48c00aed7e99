#include "cli/acid/isolation_rules.h"

#include <fmt/format.h>

namespace mneme {
namespace {

std::string hundredths(int64_t amount) {
  const uint64_t size = amount < 0 ? -static_cast<uint64_t>(amount) : static_cast<uint64_t>(amount);
  return fmt::format("{}{}.{:02}", amount < 0 ? "-" : "", size / 100, size % 100);
}

template <size_t count>
std::string listed(const std::array<int64_t, count>& amounts) {
  std::string text;
  for (const int64_t amount : amounts) text += (text.empty() ? "" : ", ") + hundredths(amount);
  return text;
}

std::string shown(const std::string& row) {
  return row.empty() ? "no row" : row;
}

// T2 ran as if T1 had not been, or could not have seen it yet.
bool second_came_first(const Course& course) {
  return course.rolls_back || course.second_was_first || !course.first_refused.empty();
}

}  // namespace

std::string Course::text() const {
  const std::string second = second_was_first ? "T2 did not wait" : "T2 waited";
  if (!first_refused.empty())
    return fmt::format("{}, T1 was refused ({}) and made again", second, first_refused);
  return second + (rolls_back ? ", T1 was rolled back" : "");
}

AcidFinding judge_status(const Course& course, const StatusSeen& seen) {
  if (seen.seen != seen.before && (second_came_first(course) || seen.seen != seen.entered)) {
    return {false,
            fmt::format("{}; T2 saw {}, which {}; before T1 there was {}", course.text(), seen.seen,
                        course.rolls_back ? "was rolled back" : "had not been committed", seen.before)};
  }
  const std::string& wanted = course.rolls_back ? seen.before : seen.entered;
  if (seen.afterwards != wanted) {
    return {false, fmt::format("{}; afterwards there is {}, not {}", course.text(), seen.afterwards, wanted)};
  }
  return {true, fmt::format("{}; T2 saw {}", course.text(),
                            seen.seen == seen.before ? "what was there before T1" : "T1's order")};
}

AcidFinding judge_orders(const Course& course, const OrdersSeen& seen) {
  const std::string what =
      fmt::format("{}; D_NEXT_O_ID was {} and is {}, T1's order is {}, T2's {}", course.text(),
                  seen.next_before, seen.next_after, seen.first, seen.second);
  const int64_t kept = course.rolls_back ? 1 : 2;
  const bool second_is_first = second_came_first(course);
  const bool in_order = course.rolls_back ? seen.second == seen.next_before
                        : second_is_first
                            ? seen.second == seen.next_before && seen.first == seen.next_before + 1
                            : (seen.first == seen.next_before && seen.second == seen.first + 1) ||
                                  (seen.second == seen.next_before && seen.first == seen.second + 1);
  if (!in_order || seen.next_after != seen.next_before + kept)
    return {false, fmt::format("{}: as one after the other they could not leave that", what)};
  if (!seen.faults.empty()) return {false, fmt::format("{}; {}", what, seen.faults)};
  return {true, what};
}

AcidFinding judge_balance(const Course& course, const BalanceSeen& seen) {
  const int64_t delivered = course.rolls_back ? 0 : seen.delivered;
  const std::string what = fmt::format("{}; C_BALANCE was {}, delivered {}, paid {}, T2 saw {}, now {}",
                                       course.text(), hundredths(seen.before), hundredths(seen.delivered),
                                       hundredths(seen.paid), hundredths(seen.seen), hundredths(seen.after));
  const int64_t second_alone = seen.before - seen.paid;
  const bool saw_one_order =
      seen.seen == second_alone || (!second_came_first(course) && seen.seen == second_alone + delivered);
  const bool ok = saw_one_order && seen.after == second_alone + delivered;
  return {ok, ok ? what : fmt::format("{}: as one after the other they could not leave that", what)};
}

AcidFinding judge_prices(const PricesSeen& seen) {
  const auto [x, y] = seen.before;
  const auto [new_x, new_y] = seen.changed;
  const std::string prices =
      fmt::format("the prices of x and y were {}, T3 set {}", listed(seen.before), listed(seen.changed));
  if (seen.changed == seen.before) return {false, fmt::format("{}: nothing was changed", prices)};
  if (seen.refused.empty() && seen.read != std::array{x, y, x}) {
    return {false, fmt::format("{}, and T2, which began before and committed, read {} for x, y and x", prices,
                               listed(seen.read))};
  }
  if (!seen.refused.empty() && seen.again != std::array{new_x, new_y, new_x})
    return {false, fmt::format("{}; T2, made again behind it, read {}", prices, listed(seen.again))};
  if (seen.after != seen.changed)
    return {false, fmt::format("{}, and T4 read {} afterwards", prices, listed(seen.after))};
  return {true, seen.refused.empty() ? fmt::format("{}; T2 read the former ones throughout", prices)
                                     : fmt::format("{}; T2 was refused ({}), and made again read these",
                                                   prices, seen.refused)};
}

AcidFinding judge_phantom(const PhantomSeen& seen) {
  const bool was_refused = !seen.refused.empty();
  if (!was_refused && seen.second != seen.first)
    return {false, fmt::format("T1 read {}, then {}, and committed", shown(seen.first), shown(seen.second))};
  if (seen.again != seen.added) {
    return {false, fmt::format("a read behind both finds {}; T2 had added {}", shown(seen.again),
                               shown(seen.added))};
  }
  return {true,
          was_refused
              ? fmt::format("T1 was refused ({}), and made again reads {}", seen.refused, seen.again)
              : fmt::format("T1 read {} twice, and a read behind both {}", shown(seen.first), seen.again)};
}

}  // namespace mneme
