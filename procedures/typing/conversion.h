// Conversions: PostgreSQL's rules for which types meet which, made explicit as kCast.
//
// Invariants  what these functions return has a type that is known: a literal that had none ("unknown" in
//             PostgreSQL: a bare NULL or a quoted string, here TypeKind::kNull) has taken one from its
//             context. numerics that meet in +, -, % and comparisons have one scale.
// Errors      refuse(): types that PostgreSQL would not bring together without a cast.
// Source      PostgreSQL 15, chapter 10 (type conversion) and pg_cast.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme {

Type numeric_type(uint32_t scale);
Type text_type();

// Whether values of the two types differ in bounds and digits at most.
bool is_same_kind(const Type& a, const Type& b);

// Returns whether PostgreSQL casts from the one type to the other where a value is assigned.
bool is_assigned_without_cast(const Type& from, const Type& to);

// Says whether PostgreSQL casts a value of the one type to the other where it is assigned: a timestamp or an
// interval to a time of day, or a time of day to an interval.
bool is_time_of_day_pair(const Type& from, const Type& to);

// What an element of an array's text is read as.
// The type of an array of a query: a text that spells its elements.
Type array_type_of(const Type& element);
Type element_of(const Type& array);
// Whether such arrays have keys, texts in the arrays' order (mneme_array_key()): where the elements' texts
// say their order, or they are numbers without an exponent.
bool has_array_key(const Type& array);
// Whether two such arrays have elements of one type.
bool has_same_elements(const Type& a, const Type& b);

// A literal, or a parameter of a statement, whose type its context decides.
bool is_unknown(const ir::Expr& expr);

// `expr` as it stands, with a cast where its representation or bound may differ from the target's. No rule is
// checked.
ir::Expr convert(ir::Expr expr, const Type& target);

// As `target := expr` converts: PostgreSQL's assignment casts. `what` names the target in errors.
ir::Expr convert_for_assignment(ir::Expr expr, const Type& target, std::string_view what);

// As CAST(expr AS target) converts; what is too long for a string is cut.
ir::Expr convert_explicitly(ir::Expr expr, const Type& target);

// An unknown literal becomes a value of the type.
ir::Expr resolve_literal(ir::Expr expr, const Type& target);
// An unknown literal takes the type `text`; others stay.
ir::Expr resolve_as_text(ir::Expr expr);

// Text for ||, concat() and RAISE, from any type whose text does not depend on how a value came about.
ir::Expr convert_to_text(ir::Expr expr);

// Text as output functions print it: a boolean is t or f, a char(n) keeps the blanks that fill it. `what`
// names the function in errors.
ir::Expr convert_to_output(ir::Expr expr, std::string_view what);

// Brings both sides of a comparison, or of arithmetic, to the type in which PostgreSQL does it.
void unify_for_comparison(ir::Expr& left, ir::Expr& right, ir::SourceLocation where,
                          ir::Op op = ir::Op::kEqual);
void unify_for_arithmetic(ir::Expr& left, ir::Expr& right, bool same_scale, ir::SourceLocation where,
                          ir::Op op = ir::Op::kModulo);

// The type's name in PostgreSQL's messages: integer, timestamp without time zone.
std::string message_name(const Type& type);

// An exact number that has its own digits after the point from here on (values/decimal.h); others stay.
ir::Expr with_own_digits(ir::Expr expr);
// Gives a numeric its own digits after the point. Leaves integers, and all else, as they are.
ir::Expr with_own_digits_if_numeric(ir::Expr expr);

// Brings results of CASE, COALESCE, ... to one type, and returns it. `text_varies`: as the whole's
// ir::Expr::text_varies.
// Returns the type, without length and precision, in which PostgreSQL puts values of both into one array or
// column. If only one of the types converts to the other without a cast, it is that other one; if each does,
// it is `first`. Returns nullopt if no plain type takes both.
std::optional<Type> common_type(const Type& first, const Type& second);

Type unify_results(const std::vector<ir::Expr*>& results, std::string_view construct, bool& text_varies);

// The digits after the point that PostgreSQL gives a number, before it meets another: as many as its type
// says here, unless they vary with the value (ir::Expr::text_varies).
struct Digits {
  uint32_t count = 0;
  bool vary = false;
};
Digits decimals_of(const ir::Expr& number);

// Whether a sum, difference or remainder of the two has `scale` digits in PostgreSQL whatever the values are.
bool has_most_digits(const Digits& left, const Digits& right, uint32_t scale);

// Refuses an expression whose text PostgreSQL may print otherwise. `what`: whose text it is, in the
// sentence's beginning.
void require_certain_text(const ir::Expr& expr, std::string_view what);

}  // namespace mneme
