// QueryRunner's WITH RECURSIVE.
#include <array>
#include <utility>

#include "procedures/query/query_runner.h"

namespace mneme::query {

namespace {

// Counted for each row found, so that a recursion without an end fails before long, though only the rows
// found last are kept.
constexpr size_t kBytesOfFoundRow = 64;

}  // namespace

bool QueryRunner::run_recursion(const RecursionPlan& plan, std::span<const Column> columns, Visitor visit) {
  std::vector<Value> row(columns.size());
  std::unordered_set<std::string> seen;
  RowStore found(columns.size());
  RowStore working(columns.size());
  std::array<Arena, 2> texts;  // of the rows found, and of those found before them
  size_t text = 0;
  size_t bytes = kept_bytes_;  // of all rows so far
  const auto find = [&](const QueryPlan& query, const std::vector<ir::Expr>& casts) {
    const Arena::Mark mark = kept_.mark();
    kept_bytes_ = bytes;
    found.clear();
    texts[text].reset();
    const bool ok = run_query(query, [&](std::span<const Value> values) {
      const Around around(state_.context);
      state_.context.rows[0] = {nullptr, nullptr, {}, values};
      size_t size = kBytesOfFoundRow + found.row_bytes();
      for (size_t i = 0; i < row.size(); ++i) {
        if (!value_of(casts[i], row[i])) return false;
        if (row[i].kind() == Value::Kind::kText) size += row[i].as_text().size();
      }
      if (!plan.all) {
        const auto [key, is_new] = seen.insert(key_of_row(columns, row));
        if (!is_new) return true;
        size += key->size();
      }
      found.add(row, &texts[text]);
      bytes += size;
      return keep(size);
    });
    // What the query kept for its joins is given back; the rows found are not.
    kept_.rewind(mark);
    kept_bytes_ = bytes;
    return ok;
  };
  if (!find(*plan.first, plan.first_casts)) return false;
  while (found.size() > 0) {
    for (size_t i = 0; i < found.size(); ++i) {
      if (!visit(found.row(i))) return state_.outcome.completed();
    }
    bytes = kept_bytes_;
    std::swap(found, working);
    text = 1 - text;
    working_rows_[plan.number] = &working;
    if (!find(*plan.step, plan.step_casts)) return false;
  }
  return true;
}

}  // namespace mneme::query
