// SelectBinder's FOR UPDATE, NO KEY UPDATE, SHARE and KEY SHARE: which tables' rows are locked. A locked
// table has one more slot, its row's handle, which is an output that no client sees; the runner locks by it.
#include <algorithm>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"

namespace mneme::query {

using syntax::FromItem;

namespace {

bool names(const syntax::LockClause& lock, const FromItem& item) {
  const std::string& name = (item.alias.empty() ? item.name : item.alias).text;
  return std::ranges::any_of(lock.tables,
                             [&](const syntax::Name& each) { return names_source(each.text, name); });
}

RowLockWait as_access(ir::LockWait wait) {
  switch (wait) {
    case ir::LockWait::kWaits:
      return RowLockWait::kWaits;
    case ir::LockWait::kNoWait:
      return RowLockWait::kNoWait;
    case ir::LockWait::kSkipsLocked:
      return RowLockWait::kSkipsLocked;
  }
  return RowLockWait::kWaits;
}

}  // namespace

bool locks_rows(const FromStep& step) {
  const auto any = [](const std::vector<FromStep>& steps) {
    return std::ranges::any_of(steps,
                               [](const FromStep& each) { return each.gives_handle || locks_rows(each); });
  };
  if (step.group) return any(step.group->steps);
  return step.query &&
         (!step.query->locks.empty() || (step.query->select && any(step.query->select->from.steps)));
}

void refuse_lock(const syntax::LockClause& lock, std::string_view rest) {
  refuse_as(sqlstate::kNotSupported, lock.where, "{} {}", lock.words, rest);
}

// Where several clauses name the table, the strongest lock counts, and NOWAIT before SKIP LOCKED.
std::optional<RowLocking> SelectBinder::locking_of(const FromItem& item) const {
  std::optional<RowLocking> locking;
  for (const syntax::LockClause& lock : locks_) {
    if (!lock.tables.empty() && !names(lock, item)) continue;
    const bool is_first = !locking;
    if (is_first) locking = RowLocking{.table = item.name.text, .strength = RowLockStrength::kShared};
    if (!lock.is_shared) locking->strength = RowLockStrength::kExclusive;
    if (is_first || lock.wait == ir::LockWait::kNoWait || locking->wait == RowLockWait::kWaits)
      locking->wait = as_access(lock.wait);
  }
  return locking;
}

// A query in FROM is not locked, though PostgreSQL locks its tables. Functions, and tables of WITH, have no
// rows to lock.
void SelectBinder::check_locked_item(const FromItem& item) const {
  for (const syntax::LockClause& lock : locks_) {
    const bool is_named = names(lock, item);
    if (item.kind == FromItem::Kind::kFunction && is_named)
      refuse_lock(lock, "cannot be applied to a function");
    if (item.kind == FromItem::Kind::kQuery && (is_named || lock.tables.empty()))
      refuse_lock(lock,
                  "of a query in FROM is not supported; write it inside of the query, or name tables by OF");
  }
}

// PostgreSQL locks the rows of its tables.
void SelectBinder::check_locked_view(const FromItem& item) const {
  for (const syntax::LockClause& lock : locks_) {
    if (lock.tables.empty() || names(lock, item))
      refuse_lock(lock, "of a view is not supported; write its query in its place, or name tables by OF");
  }
}

void SelectBinder::add_handle(const FromItem& item, FromStep& step) {
  std::optional<RowLocking> locking = locking_of(item);
  if (!locking) return;
  step.gives_handle = true;
  step.lookup.for_update = true;
  const auto wait = locking->wait;
  step.lookup.lock_wait = wait == RowLockWait::kWaits    ? ir::LockWait::kWaits
                          : wait == RowLockWait::kNoWait ? ir::LockWait::kNoWait
                                                         : ir::LockWait::kSkipsLocked;
  locking->output = step.slots.end();
  ++step.slots.count;
  row_locks_.push_back(*std::move(locking));
}

void SelectBinder::refuse_optional_rows(const FromStep& step) const {
  if (step.gives_handle) refuse_lock(locks_[0], "cannot be applied to the nullable side of an outer join");
  if (!step.group) return;
  for (const FromStep& each : step.group->steps) refuse_optional_rows(each);
}

void SelectBinder::check_locks(const syntax::SelectCore& core, bool has_set_items) const {
  const syntax::LockClause& lock = locks_[0];
  if (core.distinct) refuse_lock(lock, "is not allowed with DISTINCT clause");
  if (core.has_group) refuse_lock(lock, "is not allowed with GROUP BY clause");
  if (core.having) refuse_lock(lock, "is not allowed with HAVING clause");
  if (!select_->aggregates.empty()) refuse_lock(lock, "is not allowed with aggregate functions");
  if (!select_->window_functions.empty()) refuse_lock(lock, "is not allowed with window functions");
  if (has_set_items) refuse_lock(lock, "is not allowed with set-returning functions in the target list");
}

std::vector<RowLocking> SelectBinder::lock_outputs() {
  constexpr Type kHandle{.kind = TypeKind::kBigInt};
  for (RowLocking& lock : row_locks_) {
    ir::Expr handle = output_column(lock.output, kHandle, locks_[0].where);
    lock.output = static_cast<uint32_t>(select_->outputs.size());
    select_->outputs.push_back(std::move(handle));
  }
  return std::move(row_locks_);
}

}  // namespace mneme::query
