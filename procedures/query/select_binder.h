// Select binder: one SELECT ... FROM ... WHERE ... GROUP BY ... HAVING, with the ORDER BY behind it. Private
// to the binder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/schema/text_form.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/query/query_binder.h"

namespace mneme::query {

inline constexpr Type kTruthType{.kind = TypeKind::kBoolean};
inline constexpr Type kCountType{.kind = TypeKind::kBigInt};

// The type of what information_schema._pg_expandarray() returns: a pair (element, number), spelled as text.
// Its precision of 1 distinguishes it, as no other text has a precision.
inline constexpr Type kExpandedType{.kind = TypeKind::kVarchar, .precision = 1, .is_text = true};

// Types of the system catalogs that are text here, or numbers.
inline bool is_name_type(std::string_view type) {
  return type == "name" || type == "\"char\"" || type == "cstring";
}
inline bool is_number_type(std::string_view type) {
  return type == "oid" || type == "xid" || type == "cid";
}

// A function that gives rows.
bool is_set_function(const std::string& name);
bool calls_set_function(const syntax::Expr& expr);
// Refuses an expression in which such functions are called: `where` says what it is a part of.
void refuse_sets(const syntax::Expr& expr, std::string_view where);
// Refuses those that are called only where another part of the expression says so.
void refuse_chosen_sets(const syntax::Expr& expr);
// A function that is called with OVER alone; aggregates may be called with it.
bool is_window_function(std::string_view name);

// Refuses a value that DISTINCT, GROUP BY and UNION cannot tell from others.
void require_equality(const ir::Expr& expr);
bool same_aggregate(const Aggregate& a, const Aggregate& b);

// While a SELECT is bound, the result of its window function number n is column n of this source.
inline constexpr uint8_t kWindowResults = 2;
inline bool is_window_result(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kColumn && expr.source == kWindowResults;
}
// Where the select list calls functions that give rows, column n of this source holds what function number n
// gives.
inline constexpr uint8_t kSetResults = 3;
inline bool is_set_result(const ir::Expr& expr) {
  return expr.kind == ir::ExprKind::kColumn && expr.source == kSetResults;
}

// Whether the step is a query, or a group of joins, in which FOR UPDATE or its kind locks rows.
bool locks_rows(const FromStep& step);

class SelectBinder final : public QueryNames, private ScopeOwner {
 public:
  SelectBinder(QueryBinder& binder, RowScope& scope) : binder_(binder), scope_(scope) {}

  // `ordered`: whose ORDER BY is meant for these rows, or nullptr.
  std::unique_ptr<QueryPlan> bind(const syntax::SelectCore& core, const syntax::Query* ordered,
                                  bool keeps_unknown);

  std::optional<ir::Expr> find_column(const std::string& qualifier, const std::string& text,
                                      ir::SourceLocation where) override;
  bool is_aggregate(const std::string& function) const override;
  ir::Expr bind_aggregate(const syntax::Expr& call) override;
  ir::Expr bind_window(const syntax::Expr& call) override;
  ir::Expr bind_query(const syntax::Expr& expr) override;
  std::optional<ir::Expr> bind_catalog_call(const syntax::Expr& call, ExpressionBinder& binder) override;
  std::optional<ir::Expr> bind_routine_call(const syntax::Expr& call, const syntax::Procedure& routine,
                                            std::span<const syntax::Expr* const> given,
                                            ExpressionBinder& binder) override;
  ir::Expr bind_array(const syntax::Expr& expr, ExpressionBinder& binder) override;
  std::optional<ir::Expr> bind_form_call(const std::string& name, std::vector<ir::Expr>& args,
                                         ir::SourceLocation where) override;
  ir::Expr concat_arrays(ir::Expr left, ir::Expr right, ir::SourceLocation where) override;
  std::optional<ir::Expr> bind_catalog_cast(const syntax::Expr& cast, ExpressionBinder& binder) override;

 private:
  // Conditions that must all hold; each is looked at as soon as the slots that it names are filled.
  using Conditions = std::vector<ir::Expr>;

  ir::Expr call_provided(const std::string& name, std::vector<ir::Expr> args, ir::SourceLocation where);
  ir::Expr json_of(ir::Expr value, ir::SourceLocation where);
  ir::Expr json_member(ir::Expr key, ir::Expr value, std::string_view colon, ir::SourceLocation where);
  std::optional<ir::Expr> bind_json_row(const syntax::Expr& arg, ExpressionBinder& binder);
  std::optional<ir::Expr> bind_json_maker(const syntax::Expr& call, ExpressionBinder& binder);
  std::optional<ir::Expr> bind_json_operator(const std::string& name, std::vector<ir::Expr>& args,
                                             ir::SourceLocation where);
  std::optional<ir::Expr> bind_bytea_call(const std::string& name, std::vector<ir::Expr>& args,
                                          ir::SourceLocation where);
  std::optional<ir::Expr> bind_numeric_call(const syntax::Expr& call, ExpressionBinder& binder);
  // The fields of a row: those of the table of that name, with their names, or those of ROW(...).
  using Fields = std::vector<std::pair<std::string, ir::Expr>>;
  bool names_table(const std::string& name) const;
  Fields fields_of_table(const std::string& name, ir::SourceLocation where);
  ir::Expr record_of(Fields fields, ir::SourceLocation where);
  ir::Expr null_if_none(const Fields& fields, ir::Expr value, ir::SourceLocation where);
  // A key that orders as the value does: another one for jsonb and arrays.
  ir::Expr order_key(ir::Expr value, ir::SourceLocation where);
  ir::Expr bind_zoned_time(const syntax::Expr& call, ExpressionBinder& binder);
  ir::Expr bind_overlaps(const syntax::Expr& call, ExpressionBinder& binder);
  ir::Expr bind_to_char(std::vector<ir::Expr> args, ir::SourceLocation where);
  ir::Expr bind(const syntax::Expr& expr);
  ir::Expr bind_value(const syntax::Expr& expr);
  void bind_condition(const syntax::Expr& expr, Conditions& conditions);

  void bind_from_item(const syntax::FromItem& item, FromPlan& plan, Conditions& conditions);
  void bind_joins(const syntax::FromItem& item, FromPlan& plan, Conditions& conditions);
  void bind_relation(const syntax::FromItem& item, FromPlan& plan, Conditions& conditions);
  void bind_table(const syntax::FromItem& item, FromStep& step);
  // FOR UPDATE and its kind (row_locking.cc).
  std::optional<RowLocking> locking_of(const syntax::FromItem& item) const;
  void check_locked_item(const syntax::FromItem& item) const;
  void check_locked_view(const syntax::FromItem& item) const;
  void add_handle(const syntax::FromItem& item, FromStep& step);
  void refuse_optional_rows(const FromStep& step) const;
  void check_locks(const syntax::SelectCore& core, bool has_set_items) const;
  std::vector<RowLocking> lock_outputs();
  bool bind_view(const syntax::FromItem& item, FromStep& step);
  std::optional<syntax::Query> query_of_sequence(const syntax::FromItem& item) const;
  std::optional<syntax::Query> query_of_function(const syntax::FromItem& item) const;
  bool bind_rows_of_routine(const syntax::FromItem& item, FromStep& step);
  void bind_function_table(const syntax::FromItem& item, FromStep& step);
  FromStep::SetFunction bind_set_function(const std::string& name, std::span<const syntax::Expr> args,
                                          ir::SourceLocation where);
  FromStep::SetFunction bind_json_rows(const char* list, bool is_text, const std::string& name,
                                       std::span<const syntax::Expr> args, ir::SourceLocation where);
  FromStep::SetFunction bind_series_of_times(std::vector<ir::Expr> args);
  ir::Expr bind_set_call(const syntax::Expr& call);
  ir::Expr bind_item(const syntax::Expr& expr);
  ir::Expr bind_subscript(const syntax::Expr& expr, ExpressionBinder& binder);
  ir::Expr bind_field(const syntax::Expr& expr, ExpressionBinder& binder);
  ir::Expr bind_array_value(const syntax::Expr& expr);
  bool needs_row(const syntax::Expr& expr) const;
  ir::Expr bind_array_of_row(const syntax::Expr& expr, ExpressionBinder& binder);
  ir::Expr bind_array_cast(const syntax::Expr& cast, ExpressionBinder& binder);
  ir::Expr cast_to_array(ir::Expr array, const syntax::Expr& cast, ExpressionBinder& binder);
  ir::Expr bind_bits(const syntax::Expr& expr, ExpressionBinder& binder);
  ir::Expr field_of(ir::Expr value, const syntax::Expr& field);
  // A function of the select list that gives rows, and the slot that its values fill.
  struct SetItem {
    FromStep::SetFunction function;
    bool in_from = false;  // it runs before rows are grouped
    size_t level = 0;      // above those in its arguments
    uint32_t slot = 0;
  };
  std::optional<uint32_t> known_set(const FromStep::SetFunction& function) const;
  void mark_sets_of_from();
  void add_sets_to_from();
  void group_sets();
  void finish_sets();
  void keep_inputs_of_sets(ir::Expr& expr);
  void put_sets_of_from(ir::Expr& expr) const;
  void join_outer(const syntax::FromItem::Join& join, FromPlan& left, size_t first_entry, size_t right_entry,
                  FromPlan right, Conditions right_conditions);
  Conditions join_conditions(const syntax::FromItem::Join& join, size_t left_entry, size_t right_entry);
  void merge_columns(const std::vector<std::string>& names, syntax::JoinKind kind, size_t left_entry,
                     size_t right_entry, ir::SourceLocation where, Conditions& conditions);
  void know_array_parameter(const syntax::Expr& cast);
  void add_columns(const syntax::FromItem& item, FromStep& step, const std::vector<Column>& columns);
  FromStep as_group(FromPlan plan, Conditions conditions);

  void arrange(FromPlan& plan, Conditions conditions);
  void order_steps(FromPlan& plan, const Conditions& conditions);
  void choose_path(FromStep& step, bool is_first, Conditions conditions);
  void choose_hash(FromStep& step, Conditions& conditions);
  void want_columns(FromPlan& plan);

  void bind_items(const syntax::SelectCore& core, bool keeps_unknown);
  void bind_groups(const syntax::SelectCore& core);
  ir::Expr bind_group_key(const syntax::Expr& item);
  void bind_grouping();
  void bind_sort(const syntax::Query& ordered, QueryPlan& plan, const syntax::SelectCore& core);
  uint32_t ordered_output(uint32_t column, const syntax::SelectCore& core, ir::SourceLocation where);
  SortKey sort_key(const syntax::OrderItem& item, const syntax::SelectCore& core);
  uint32_t output_for(const syntax::Expr& expr, const syntax::SelectCore& core, std::string_view clause);
  void bind_distinct_on(const syntax::SelectCore& core);
  Aggregate bind_aggregate_parts(const syntax::Expr& call);
  void bind_aggregate_order(const std::vector<syntax::OrderItem>& order, Aggregate& aggregate);
  void bind_within_group(const syntax::Expr& call, bool is_percentile, Aggregate& aggregate);
  void bind_filter(const syntax::Expr& call, Aggregate& aggregate);
  void group(ir::Expr& expr);
  // What a window is made of, while the SELECT is bound.
  struct WindowParts {
    WindowPlan plan;
    WindowFunction frame;  // its frame alone is meant
    bool has_frame = false;
  };
  void name_windows(const syntax::SelectCore& core);
  WindowParts bind_window_parts(const syntax::Window& window);
  void bind_frame(const syntax::WindowFrame& frame, ir::SourceLocation where, WindowParts& parts);
  std::optional<ir::Expr> bind_frame_offset(const syntax::FrameBound& bound, ir::FrameMode mode,
                                            const WindowParts& parts);
  void bind_window_arguments(const syntax::Expr& call, WindowFunction& function);
  void add_window_function(WindowFunction function, const WindowPlan& window, ir::Expr& result);
  void forget_windows(size_t kept_functions);
  void finish_windows();
  void keep_columns(ir::Expr& expr);
  bool is_decided_by_keys(const ir::Expr& column);
  // Puts expressions in the place of derived tables' columns, and notes that the slots are wanted.
  void use_slots(ir::Expr& expr);
  void put_derived(ir::Expr& expr) const;
  bool is_movable(const syntax::Expr& expr) const;
  bool is_flat_item(const syntax::FromItem& item, bool& has_derived) const;
  bool is_flat(const syntax::Query& query) const;
  bool bind_derived_table(const syntax::FromItem& item, FromPlan& plan, Conditions& conditions);
  bool bind_flat(const syntax::FromItem& item, const syntax::Query& query, const ProvidedTables::View* view,
                 FromPlan& plan, Conditions& conditions);
  bool has_no_rows() const;
  bool draws_numbers() const;
  bool is_volatile(const ir::Expr& expr) const;

  QueryBinder& binder_;
  RowScope& scope_;
  std::unique_ptr<SelectPlan> select_ = std::make_unique<SelectPlan>();
  std::vector<Column> columns_;
  std::vector<std::optional<ColumnOrigin>> origins_;  // of the frame's slots
  std::vector<bool> wanted_;                          // by slot
  std::vector<std::optional<ir::Expr>> derived_;      // by slot: what a derived table's column stands for
  size_t outer_joins_ = 0;                            // around the FROM item that is being bound
  bool flat_queries_ = false;                         // a derived table in this frame has queries inside
  std::vector<SetItem> set_items_;
  bool allows_aggregates_ = false;
  bool in_aggregate_ = false;
  bool reads_working_rows_ = false;
  bool allows_windows_ = false;
  bool allows_sets_ = false;  // functions that give rows
  bool in_window_ = false;
  std::vector<std::pair<std::string, WindowParts>> named_windows_;
  std::string_view clause_ = "FROM";  // for errors
  std::span<const syntax::LockClause> locks_;
  std::vector<RowLocking> row_locks_;  // `output`: still a slot
  // The tables whose rows fill slots, for what a primary key decides.
  struct Table {
    TableId table;
    Slots slots;
  };
  std::vector<Table> tables_;
};

}  // namespace mneme::query
