// DrawnValue: what a field of a user's CSV file stands for: a value, or a rule by which one is drawn each
// time.
//
// Fields      as PostgreSQL writes a value of the type; nothing, without quotes, for NULL. A field that
//             begins with = holds a rule:
//                 =1..1000                a number of the range, each as likely as the others; also of
//                                         numerics and times
//                 =1..1000 zipf 0.9       the first ones more often (workloads/shared/zipf.h)
//                 =red|green|blue         one of these
//                 =number                 the row's number among those of its line, from 1; of a call, a
//                                         number that no other call of the database's life has
//                 =letters 8, =letters 8..16, =digits 4
//                 =5..15 of 1..1000       of an array: so many elements by the rule behind "of"
//             For text a rule may stand in braces, in the midst of what stays: =user-{1..1000}. Two == are a
//             =.
// Invariants  a value that was parsed fits its type, and so does all that its rule draws.
// Threads     constant once made.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "base/memory/arena.h"
#include "base/result.h"
#include "engine/schema/type.h"
#include "procedures/interpreter/call.h"
#include "workloads/shared/random.h"
#include "workloads/shared/zipf.h"

namespace mneme {

// The source of a value's randomness, and its use. The drawn value lies in `memory`.
struct Drawing {
  Random& random;
  int64_t number;
  Arena& memory;
};

class DrawnValue {
 public:
  // Its text lies in `kept`. `numbers` go up to `most`: a rule that would draw one which the type does not
  // hold is refused.
  static Result<DrawnValue> parse(const Type& type, std::string_view field, int64_t most, Arena& kept);
  static DrawnValue null() { return {}; }

  // Whether it may differ from one time to the next.
  bool is_rule() const { return !std::holds_alternative<Argument>(rule_); }
  Argument draw(Drawing& drawing) const;
  // The most bytes that it draws for a text, with numbers up to `most`.
  size_t most_bytes(int64_t most) const;

 private:
  struct Range {
    int64_t low;
    int64_t high;
    int64_t draw(Random& random) const { return random.uniform(low, high); }
  };
  struct DoubleRange {
    double low;
    double high;
    bool is_real = false;  // rounded to a real
  };
  struct Skewed {
    int64_t low;
    std::shared_ptr<const Zipf> ranks;
  };
  struct Number {};
  struct Characters {
    std::string_view alphabet;
    Range count;
  };
  using OneOf = std::vector<Value>;
  struct Elements {
    Range count;
    std::unique_ptr<DrawnValue> element;
  };
  // For a text: its fixed parts, and behind each of them the drawn one.
  struct Part {
    std::string_view before;
    std::shared_ptr<const DrawnValue> drawn;  // none behind the last
  };
  using Template = std::vector<Part>;

  static Result<DrawnValue> parse_rule(const Type& type, std::string_view rule, int64_t most, Arena& kept);
  static Result<DrawnValue> parse_range(const Type& type, std::string_view rule, Arena& kept);
  static Result<DrawnValue> parse_text(const Type& type, std::string_view text, int64_t most, Arena& kept);
  static Result<DrawnValue> parse_template(const Type& type, std::string_view text, int64_t most,
                                           Arena& kept);
  static Result<DrawnValue> parse_elements(const Type& type, std::string_view rule, int64_t most,
                                           Arena& kept);
  static Result<DrawnValue> parse_braces(std::string_view rule, int64_t most, Arena& kept);
  static Result<Range> parse_count(std::string_view text);

  Value draw_scalar(Drawing& drawing) const;

  bool is_numeric_ = false;  // integers drawn are a numeric's, scaled
  bool trims_ = false;       // char(n): blanks at the end do not count
  std::variant<Argument, Range, DoubleRange, Skewed, Number, Characters, OneOf, Elements, Template> rule_;
};

}  // namespace mneme
