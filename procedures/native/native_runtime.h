// Native runtime: what code that the emitter has written calls on: arrays, errors, general paths, recordings.
//
// Included by generated code only, and by the test that holds it to the interpreter's functions. Nothing here
// has a .cc: what is not inline is the program's own (text functions, casts, KeyCodec, Transaction), resolved
// as it loads the code.
// Errors      raise_*() and refuse() set the run's outcome and return false: `return raise(run, where);`
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "engine/schema/image_parts.h"
#include "engine/schema/key_codec.h"
#include "engine/schema/schema.h"
#include "engine/transaction/replay_access.h"
#include "engine/transaction/row_access.h"
#include "engine/transaction/transaction.h"
#include "procedures/interpreter/duplicate_key.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/interpreter/native_abi.h"
#include "procedures/native/native_rows.h"
#include "procedures/native/native_values.h"
#include "procedures/times/time_functions.h"
#include "procedures/values/arithmetic.h"
#include "procedures/values/cast.h"
#include "procedures/values/key_values.h"
#include "procedures/values/run_errors.h"
#include "procedures/values/text_functions.h"

namespace mneme::native {

using ir::SourceLocation;

// ---- errors ----

// Ends the run for the error that was left in it.
[[gnu::cold, gnu::noinline]] inline bool raise(NativeRun& run, SourceLocation where) {
  *run.outcome = {Outcome::Kind::kRaised, run.error->sqlstate, run.error->message, where,
                  run.error->detail,      run.error->hint};
  return false;
}
[[gnu::cold, gnu::noinline]] inline bool raise_text(NativeRun& run, SourceLocation where,
                                                    const char* sqlstate, std::string_view text) {
  *run.error = {sqlstate, text};
  return raise(run, where);
}
[[gnu::cold, gnu::noinline]] inline bool raise_out_of_range(NativeRun& run, SourceLocation where,
                                                            TypeKind kind) {
  Type type;
  type.kind = kind;
  (void)out_of_range(type, *run.arena, *run.error);
  return raise(run, where);
}
[[gnu::cold, gnu::noinline]] inline bool raise_not_null(NativeRun& run, SourceLocation where, TableId table,
                                                        ColumnId column) {
  (void)fail_not_null(*run.schema, table, column, *run.arena, *run.error);
  return raise(run, where);
}
[[gnu::cold, gnu::noinline]] inline bool raise_no_room(NativeRun& run, SourceLocation where, TableId table,
                                                       ColumnId column, std::string_view text) {
  (void)fail_no_room(*run.schema, table, column, text, *run.arena, *run.error);
  return raise(run, where);
}
[[gnu::cold, gnu::noinline]] inline bool raise_exception(NativeRun& run, SourceLocation where,
                                                         const RaiseFormat& format,
                                                         std::initializer_list<TypedValue> arguments) {
  (void)fail_raise(format, arguments, *run.arena, *run.error);
  return raise(run, where);
}
[[gnu::cold, gnu::noinline]] inline bool raise_notice(NativeRun& run, SourceLocation where,
                                                      ir::RaiseLevel level, const RaiseFormat& format,
                                                      std::initializer_list<TypedValue> arguments) {
  SqlError said;
  (void)fail_raise(format, arguments, *run.arena, said);
  if (said.sqlstate != format.sqlstate) {
    *run.error = said;
    return raise(run, where);
  }
  if (run.notices != nullptr) keep_notice(level, said, *run.notices);
  return true;
}
// Ends the run for what the rows' door has answered to an operation.
[[gnu::cold, gnu::noinline]] inline bool refuse(NativeRun& run, AccessStatus status, uint32_t operation_id) {
  const ir::Operation& operation = run.procedure->operations[operation_id];
  if (status == AccessStatus::kDuplicateKey) {
    (void)fail_duplicate_key(*run.schema, operation, run.rows->refusal(), *run.arena, *run.error);
    return raise(run, operation.where);
  }
  CHECK(status == AccessStatus::kConflict || status == AccessStatus::kOutOfMemory);
  const auto kind =
      status == AccessStatus::kConflict ? Outcome::Kind::kConflict : Outcome::Kind::kOutOfMemory;
  *run.outcome = {kind, "", "", operation.where};
  return false;
}

// Whether the run is asked to stop; end_stopped() then ends it.
inline bool is_stopped(NativeRun& run) {
  return run.stop != nullptr && run.stop->is_due();
}
[[gnu::cold, gnu::noinline]] inline bool end_stopped(NativeRun& run, SourceLocation where) {
  *run.error = stopped_error(*run.stop);
  *run.outcome = {Outcome::Kind::kStopped, run.error->sqlstate, run.error->message, where};
  return false;
}

// Ends the run for a key that NativeRun::keys has refused.
[[gnu::cold, gnu::noinline]] inline bool end_outside_hint(NativeRun& run, SourceLocation where) {
  *run.outcome = {Outcome::Kind::kOutsideHint, "", "", where};
  return false;
}

// ---- types, for the functions that take one ----

constexpr Type plain_type(TypeKind kind) {
  Type type;
  type.kind = kind;
  return type;
}
constexpr Type numeric_of(uint8_t precision, uint8_t scale) {
  Type type = plain_type(TypeKind::kNumeric);
  type.precision = precision;
  type.scale = scale;
  return type;
}
constexpr Type timestamp_of(uint8_t precision, bool is_zoned) {
  Type type = plain_type(TypeKind::kTimestamp);
  type.precision = precision;
  type.is_zoned = is_zoned;
  return type;
}
constexpr Type time_of(uint8_t precision) {
  Type type = plain_type(TypeKind::kTime);
  type.precision = precision;
  return type;
}
constexpr Type string_of(TypeKind kind, uint16_t length, bool is_text = false) {
  Type type = plain_type(kind);
  type.length = length;
  type.is_text = is_text;
  return type;
}

// Text that outlives the row it was read from.
inline std::string_view kept(NativeRun& run, std::string_view text) {
  return run.arena->copy(text);
}

// concat(): its arguments, NULLs left out, as their types print them.
[[nodiscard]] inline bool concatenate_printed(NativeRun& run, std::initializer_list<TypedValue> arguments,
                                              Value& result) {
  const std::span<std::string_view> parts = run.arena->make_array<std::string_view>(arguments.size());
  size_t i = 0;
  for (const TypedValue& argument : arguments) {
    std::string_view& part = parts[i++];
    if (argument.value.is_null()) continue;
    fmt::memory_buffer buffer;
    print_value(argument.type, argument.value, buffer);
    part = run.arena->copy({buffer.data(), buffer.size()});
  }
  return concatenate(parts, *run.arena, result, *run.error);
}

// ---- arithmetic on doubles, and on reals ----

template <TypeKind kKind>
[[nodiscard]] bool double_arithmetic(NativeRun& run, ir::Op op, double a, double b, double& result) {
  Value value;
  if (!apply_arithmetic(op, plain_type(kKind), Value::of_double(a), Value::of_double(b), *run.arena, value,
                        *run.error)) {
    return false;
  }
  result = value.as_double();
  return true;
}

// ---- arrays ----

// An array variable. Arguments are read where they lie; elements never change, so that arrays may share them.
class Array {
 public:
  Array() = default;  // NULL
  explicit Array(const Argument& argument)
      : elements_(argument.array.data()), size_(argument.array.size()), null_(argument.null_array) {}

  bool null() const { return null_; }
  int64_t size() const { return static_cast<int64_t>(size_); }
  std::span<const Value> span() const { return {elements_, size_}; }
  Argument argument() const { return {{}, span(), null_}; }

  // a[subscript], from 1; NULL when out of bounds.
  Value at(int64_t subscript, bool null) const {
    if (null || subscript < 1 || subscript > size()) return Value::null();
    return elements_[subscript - 1];
  }
  // subscript = ANY (array), and so on.
  Nullable<bool> contains(TypeKind kind, const Value& wanted) const {
    bool unknown = null_;
    for (const Value& element : span()) {
      if (wanted.is_null() || element.is_null()) {
        unknown = true;
      } else if (compare_values(kind, wanted, element) == 0) {
        return {true, false};
      }
    }
    return {false, unknown};
  }

  void append(Arena& arena, const Value& value) {
    if (size_ >= room_) grow(arena);
    const_cast<Value*>(elements_)[size_++] = value;
    null_ = false;
  }
  // Room behind the elements stays the other's: it may put more there.
  void assign(const Array& other) {
    elements_ = other.elements_;
    size_ = other.size_;
    room_ = 0;
    null_ = other.null_;
  }
  void clear() {
    *this = Array();
    null_ = false;
  }

 private:
  void grow(Arena& arena) {
    const size_t room = size_ < 8 ? 16 : 2 * size_;
    auto* grown = static_cast<Value*>(arena.allocate(room * sizeof(Value)));
    if (size_ > 0) std::memcpy(static_cast<void*>(grown), elements_, size_ * sizeof(Value));
    elements_ = grown;
    room_ = room;
  }

  const Value* elements_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;  // where the elements are this array's own
  bool null_ = true;
};

// ---- paths with several values for a column, and other rare ones ----

// A column's values in the order in which they are looked up.
inline std::span<const Value> key_values(NativeRun& run, std::span<const Value> values, TypeKind kind,
                                         bool backward) {
  const std::span<Value> sorted = run.arena->make_array<Value>(values.size());
  std::ranges::copy(values, sorted.begin());
  return sort_key_values(sorted, kind, backward);
}

// The keys of `values`, one set of values a column of the index, and for ranges the bounds on the next
// column.
struct KeyPath {
  uint32_t operation;
  IndexId index;
  bool point;
  bool backward;
  ImageParts parts;
  Purpose purpose;
  std::span<const std::span<const Value>> values;
  std::optional<KeyCodec::Bound> lower;
  std::optional<KeyCodec::Bound> upper;
};

// Visits the rows of a path until `visit` returns false; `ok` then says whether the run goes on.
class PathVisitor {
 public:
  using Visit = FunctionRef<bool(const RowRef&)>;

  PathVisitor(NativeRun& run, const KeyPath& path, const bool& ok, Visit visit)
      : run_(run), path_(path), ok_(ok), visit_(visit) {
    prefix_ = run.arena->make_array<Value>(path.values.size());
  }
  // False: the run has failed.
  [[nodiscard]] bool visit_all() {
    (void)visit_from(0);
    return ok_ && run_.outcome->completed();
  }

 private:
  // False: enough, or failed.
  bool visit_from(size_t column) {
    if (column == path_.values.size()) return visit_keys();
    for (const Value& value : path_.values[column]) {
      prefix_[column] = value;
      if (!visit_from(column + 1)) return false;
    }
    return true;
  }
  bool visit_keys() {
    const KeyCodec& codec = run_.schema->codec(path_.index);
    if (path_.point) {
      const std::optional<IndexKey> key = codec.of_whole(prefix_);
      if (!key) return true;
      RowRef row;
      const AccessStatus status = run_.rows->find_parts(path_.index, *key, path_.parts, path_.purpose, row);
      if (status == AccessStatus::kOk) return visit_(row);
      return status == AccessStatus::kAbsent || refuse(run_, status, path_.operation);
    }
    const std::optional<KeyRange> range = codec.of_range(prefix_, path_.lower, path_.upper);
    if (!range) return true;
    bool go_on = true;
    const AccessStatus status = run_.rows->scan_parts(
        path_.index, *range,
        path_.backward ? RowAccess::Direction::kBackward : RowAccess::Direction::kForward, path_.parts,
        path_.purpose, [&](const RowRef& row) { return go_on = visit_(row); });
    return status == AccessStatus::kOk ? go_on : refuse(run_, status, path_.operation);
  }

  NativeRun& run_;
  const KeyPath& path_;
  const bool& ok_;
  Visit visit_;
  std::span<Value> prefix_;
};

// ---- aggregates over distinct values ----

template <typename T>
void sort_distinct(ArenaVector<T>& values) {
  std::sort(values.begin(), values.end(), [](const T& a, const T& b) { return order_of(a, b) < 0; });
  T* last =
      std::unique(values.begin(), values.end(), [](const T& a, const T& b) { return order_of(a, b) == 0; });
  values.shorten(static_cast<size_t>(last - values.begin()));
}

// ORDER BY: NULL last, or first where descending.
template <typename T>
std::strong_ordering order_of_keys(bool descending, const Nullable<T>& a, const Nullable<T>& b) {
  std::strong_ordering order = a.null <=> b.null;
  if (!a.null && !b.null) order = order_of(a.value, b.value);
  return descending ? 0 <=> order : order;
}

// ---- the functions that a unit is called by ----

template <bool (*kUnit)(Transaction*, NativeRun&)>
bool run_on_transaction(NativeRun& run) {
  return kUnit(static_cast<Transaction*>(run.rows), run);
}
// There are no rows for a unit that performs nothing: where it only locates.
template <bool (*kUnit)(RowAccess*, NativeRun&)>
bool run_on_any(NativeRun& run) {
  return kUnit(run.rows, run);
}

// The same: a unit that only locates has no rows.
template <bool (*kUnit)(ReplayAccess*, NativeRun&)>
bool run_on_replay(NativeRun& run) {
  return kUnit(static_cast<ReplayAccess*>(run.rows), run);
}

// ---- inserts ----

// A table's new image, of so many bytes, and its insert under its key in the table's one index.
template <size_t kBytes, class Rows>
std::byte* zeroed_image(Rows* rows, TableId table) {
  if constexpr (std::is_same_v<Rows, ReplayAccess>)
    return rows->template new_image_of<kBytes>(table);
  else
    return rows->new_image(table);
}
template <class Rows>
AccessStatus insert_under(Rows* rows, TableId table, std::byte* image, IndexId primary,
                          const LookupKey& key) {
  if constexpr (std::is_same_v<Rows, ReplayAccess>)
    return rows->insert_image_under(table, image, primary, key);
  else
    return rows->insert_image(table, image);
}

// ---- loops and recordings ----

// Which iterations of a loop marked iterations_apart run: [begin, end) of those from 0.
struct Iterations {
  int64_t begin;
  int64_t end;
};
inline Iterations iterations_apart(const NativeRun& run, int64_t count) {
  if (!run.only_iteration) return {0, count};
  const int64_t only = *run.only_iteration;
  return only < count ? Iterations{only, only + 1} : Iterations{0, 0};
}

// Executions of an operation within one iteration of the outermost loop count from 0.
struct Executions {
  uint32_t iteration = 0;
  uint32_t count = 0;

  uint32_t next(uint32_t current) {
    if (iteration != current) *this = {current, 0};
    return count++;
  }
};

}  // namespace mneme::native
