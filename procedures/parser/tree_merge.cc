// MERGE: each WHEN is a change of its own.
#include <utility>

#include "procedures/ir/source_error.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using ir::Op;
using syntax::Expr;
using syntax::ExprKind;

namespace {

class MergeReader {
 public:
  explicit MergeReader(MnemeParser::MergeContext* context)
      : context_(context),
        where_(location(context)),
        target_{read_relation(context->relation()), {}},
        source_(read_table_item(context->tableItem())),
        on_(read_expression(context->expression())) {
    if (context->name()) target_.alias = read_name(context->name());
  }

  syntax::Operation read() {
    syntax::Operation merge;
    merge.kind = ir::OperationKind::kSelect;
    merge.where = where_;
    merge.merges = true;
    syntax::Query query;
    query.where = query.first.where = where_;
    if (context_->with()) query.with = read_with(context_->with(), query.recursive);
    std::vector<Expr> matched;    // the conditions of the WHEN MATCHED so far
    std::vector<Expr> unmatched;  // and of the WHEN NOT MATCHED
    for (auto* when : context_->mergeWhen()) {
      expect_word(when->IDENTIFIER(0), {"matched"});
      const bool is_insert = when->NOT() != nullptr;
      std::vector<Expr>& before = is_insert ? unmatched : matched;
      const bool is_last = !before.empty() && before.back().kind == ExprKind::kBoolean;
      if (is_last)
        refuse(location(when), "unreachable WHEN clause specified after unconditional WHEN clause");
      std::optional<syntax::Operation> change = read_when(when, before);
      Expr condition = syntax::make_expression(ExprKind::kBoolean, location(when));
      condition.text = "true";
      if (when->expression()) condition = read_expression(when->expression());
      before.push_back(std::move(condition));
      if (!change) continue;
      // No name of the user's holds a blank.
      syntax::Query::CommonTable& part = query.with.emplace_back();
      part.name = {"merge " + std::to_string(query.with.size()), location(when)};
      part.change = std::make_shared<const syntax::Operation>(*std::move(change));
    }
    // The query itself has no row.
    syntax::SelectCore& core = query.first.select.emplace();
    core.where = where_;
    Expr one = syntax::make_expression(ExprKind::kInteger, where_);
    one.text = "1";
    core.items.push_back({false, {}, std::move(one), {}});
    core.condition = syntax::make_expression(ExprKind::kBoolean, where_);
    core.condition->text = "false";
    merge.query = std::make_shared<const syntax::Query>(std::move(query));
    return merge;
  }

 private:
  // Returns nullopt for DO NOTHING.
  std::optional<syntax::Operation> read_when(MnemeParser::MergeWhenContext* when,
                                             const std::vector<Expr>& before) {
    const bool is_insert = when->INSERT() != nullptr;
    if (when->DO()) {
      expect_word(when->IDENTIFIER(1), {"nothing"});
      return std::nullopt;
    }
    if (is_insert != (when->NOT() != nullptr)) {
      refuse(location(when),
             "syntax error: INSERT stands behind WHEN NOT MATCHED, UPDATE and DELETE behind "
             "WHEN MATCHED");
    }
    std::vector<Expr> conditions;
    if (!is_insert) conditions.push_back(on_);
    for (const Expr& each : before)
      conditions.push_back(syntax::make_unary(Op::kIsNotTrue, each, each.where));
    if (when->expression()) conditions.push_back(read_expression(when->expression()));
    syntax::Operation change;
    change.where = location(when);
    change.tables.push_back(target_);
    change.kind = is_insert        ? ir::OperationKind::kInsert
                  : when->UPDATE() ? ir::OperationKind::kUpdate
                                   : ir::OperationKind::kDelete;
    if (is_insert) return insert(when, std::move(change), std::move(conditions));
    for (auto* item : when->setItem()) read_set_item(item, change);
    change.from.push_back(source_);
    change.conditions = std::move(conditions);
    return change;
  }

  // INSERT INTO target SELECT values FROM source WHERE NOT EXISTS (SELECT FROM target WHERE on).
  syntax::Operation insert(MnemeParser::MergeWhenContext* when, syntax::Operation change,
                           std::vector<Expr> conditions) {
    if (when->DEFAULT()) {
      refuse_as(sqlstate::kNotSupported, location(when),
                "INSERT DEFAULT VALUES is not supported in MERGE; write the values");
    }
    change.tables[0].alias = {};
    std::vector<syntax::Name> columns;
    if (when->nameList()) {
      for (auto* name : when->nameList()->name()) columns.push_back(read_name(name));
    }
    const std::vector<Expr> values = read_row(when->insertRow());
    if (!columns.empty() && values.size() != columns.size()) {
      refuse(location(when), "INSERT has more {}",
             values.size() > columns.size() ? "expressions than target columns"
                                            : "target columns than expressions");
    }
    auto rows = std::make_shared<syntax::Query>();
    rows->where = rows->first.where = change.where;
    syntax::SelectCore& core = rows->first.select.emplace();
    core.where = change.where;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].kind == ExprKind::kDefault) {
        if (columns.empty()) {
          refuse_as(sqlstate::kNotSupported, values[i].where,
                    "DEFAULT is supported in MERGE where the columns are listed; list them");
        }
        continue;
      }
      if (!columns.empty()) change.columns.push_back(columns[i]);
      core.items.push_back({false, {}, values[i], {}});
    }
    core.from.push_back(source_);
    conditions.insert(conditions.begin(), no_match(change.where));
    core.condition = syntax::join(Op::kAnd, conditions);
    change.query = std::move(rows);
    return change;
  }

  Expr no_match(syntax::SourceLocation where) const {
    auto matches = std::make_shared<syntax::Query>();
    matches->where = matches->first.where = where;
    syntax::SelectCore& core = matches->first.select.emplace();
    core.where = where;
    Expr one = syntax::make_expression(ExprKind::kInteger, where);
    one.text = "1";
    core.items.push_back({false, {}, std::move(one), {}});
    syntax::FromItem& item = core.from.emplace_back();
    item.where = target_.table.where;
    item.name = target_.table;
    item.alias = target_.alias;
    core.condition = on_;
    Expr exists = syntax::make_expression(ExprKind::kExists, where);
    exists.query = std::move(matches);
    return syntax::make_unary(Op::kNot, std::move(exists), where);
  }

  MnemeParser::MergeContext* const context_;
  const syntax::SourceLocation where_;
  syntax::TableReference target_;
  const syntax::FromItem source_;
  const Expr on_;
};

}  // namespace

syntax::Operation read_merge(MnemeParser::MergeContext* context) {
  return MergeReader(context).read();
}

}  // namespace mneme
