// Access emitter: how an operation finds its rows, in C++: keys made in words, one lookup or a scan, then the
// filter.
//
// Three forms     a point path of one key: find_parts() in line. a range of one prefix: scan_parts() with a
//                 lambda. Paths with several values for a column, or a double in the key: native_runtime.h's
//                 PathVisitor, over KeyCodec.
// Invariants      the path's expressions are evaluated in the interpreter's order, all of them before the
//                 first row is looked up.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/schema/image_parts.h"
#include "procedures/native/emitter_expression.h"

namespace mneme {

// Where a column stands in an index's keys (key_codec.h).
struct KeyPlace {
  ColumnId column;
  Type type;
  uint32_t offset;  // of the value, behind the NULL byte
  uint32_t bytes;
};
struct KeyShape {
  std::vector<KeyPlace> places;  // of the index's own columns
  uint32_t bytes = 0;            // the suffix of an index that is not unique included

  uint32_t words() const { return (bytes + 7) / 8; }
  // Returns the bytes of the first `columns` columns.
  uint32_t prefix_bytes(size_t columns) const {
    return columns == 0 ? 0 : places[columns - 1].offset + places[columns - 1].bytes;
  }
};
KeyShape key_shape(const Catalog& catalog, IndexId index);

class AccessEmitter {
 public:
  // Writes what is done with a row, and returns as C++ whether to go on to the next one: "true", "false", or
  // a condition.
  using RowCode = std::function<std::string()>;

  explicit AccessEmitter(UnitScope& scope) : scope_(scope), text_(scope.text), expressions_(scope) {}

  // Visits the rows that an operation is about: `row`, and for a join `inner`. Inside the code for a row,
  // leaving the function means leaving a lambda where the path needs one.
  void visit_rows(const ir::Operation& operation, const RowCode& code);
  // Those of its first access alone.
  void visit_outer_rows(const ir::Operation& operation, const RowCode& code);
  // At most one row is found.
  static bool is_point(const ir::Operation& operation);

  // The parts of a row's image that an operation reads or changes, in C++. Where a CASE chooses columns by
  // what is known before the row is (`may_decide`, besides), they are chosen by it, too: what that takes is
  // written first.
  using MayDecide = std::function<bool(const ir::Expr&)>;
  struct WantedParts {
    std::string text;
    bool is_chosen = false;  // by what the generated code finds out, and not always the same
  };
  WantedParts parts(const ir::Operation& operation, uint8_t source, const MayDecide& may_decide);
  std::string parts(const ir::Operation& operation, uint8_t source) {
    return parts(operation, source, [](const ir::Expr&) { return true; }).text;
  }

  // Those of the columns in an expression.
  ImageParts parts_of_columns(const ir::Operation& operation, uint8_t source, const ir::Expr& expr) const;

  // Whether all of a path's equalities have one value each that a key in words can be made of.
  bool is_plain(const ir::TableAccess& access) const;
  // An operand that knows how wide an integer it is.
  Operand emit_key_value(const ir::Expr& expr);
  // Writes the key `name` of the values, which has their bytes and zeros; the condition under which there is
  // one is returned by key_condition().
  void write_key(IndexId index, std::span<const Operand> values, const std::string& name);
  // The same in the look-up that stands next in `lookups`, as `key` of `lookup`.
  void write_key_of_lookup(IndexId index, std::span<const Operand> values);
  std::string key_condition(IndexId index, std::span<const Operand> values);

  // Whether the access's rows must be read as a whole: the engine moves or drops index entries by their
  // images.
  static bool changes_indexes(const Catalog& catalog, const ir::Operation& operation);

 private:
  void put_key(IndexId index, std::span<const Operand> values, const std::string& name);
  void visit(const ir::Operation& operation, uint8_t source, const RowCode& code, bool inside_loop);
  void visit_point(const ir::Operation& operation, uint8_t source, std::span<const Operand> values,
                   const RowCode& code, bool inside_loop);
  void visit_range(const ir::Operation& operation, uint8_t source, std::span<const Operand> values,
                   const RowCode& code, bool inside_loop);
  void visit_many(const ir::Operation& operation, uint8_t source, const RowCode& code, bool inside_loop);
  std::string write_values(const ir::Operation& operation, uint8_t source, size_t column);
  // Bounds of a path as std::optional<KeyCodec::Bound>: their names, and the condition that none is NULL.
  struct Bounds {
    std::string lower;
    std::string upper;
    std::string condition;  // empty: always
  };
  Bounds write_bounds(const ir::TableAccess& access);
  std::string write_bound(const std::optional<ir::AccessPath::Bound>& bound, std::string& condition);

  // Where the code for a row stands: a lambda returns whether to go on, a loop over outer rows is left by a
  // break.
  enum class Place { kAlone, kLoop, kLambda };
  void row_code(const ir::Operation& operation, uint8_t source, const RowCode& code, Place place,
                const std::string& more = "");
  void write_lambda(const ir::Operation& operation, uint8_t source, const RowCode& code,
                    const std::string& more);
  void set_row(const ir::Operation& operation, uint8_t source);
  // Fetches the inner rows of the next outer rows ahead, a group at a time.
  void write_group_prefetch(const ir::Operation& operation, const std::string& outer_rows,
                            const std::string& at);

  // The parts that columns take, and those of CASEs that choose among columns, as C++ numbers.
  struct Parts {
    ImageParts always;
    std::vector<std::pair<ImageParts, std::string>> chosen;  // all that may be, and the choice
  };
  void collect_parts(const ir::Operation& operation, uint8_t source, const ir::Expr& expr,
                     const MayDecide& may_decide, Parts& parts);
  void collect_chosen_parts(const ir::Operation& operation, uint8_t source, const ir::Expr& expr,
                            Parts& parts);
  ImageParts parts_of(const ir::Operation& operation, uint8_t source, ColumnId column) const;

  UnitScope& scope_;
  FunctionText& text_;
  ExpressionEmitter expressions_;
};

}  // namespace mneme
