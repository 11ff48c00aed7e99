// Queries of the syntax tree: what a session's SELECT may be.
#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/element_query.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using syntax::FromItem;
using syntax::JoinKind;
using syntax::Query;
using syntax::QueryPart;
using syntax::SelectCore;

namespace {

std::vector<syntax::Name> read_names(MnemeParser::NameListContext* context) {
  std::vector<syntax::Name> names;
  for (auto* name : context->name()) names.push_back(read_name(name));
  return names;
}

class QueryReader {
 public:
  template <typename Context>
  static Query read(Context* context, QueryPart first) {
    Query query;
    query.where = location(context);
    if (context->with()) {
      query.with = read_with(context->with(), query.recursive);
    }
    query.first = std::move(first);
    for (auto* more : context->setOperation()) query.more.push_back(set_operation(more));
    read_tail(context->queryTail(), query);
    return query;
  }

  static std::vector<Query::CommonTable> common_tables(MnemeParser::WithContext* context) {
    std::vector<Query::CommonTable> tables;
    for (auto* item : context->commonTable()) {
      Query::CommonTable table;
      table.name = read_name(item->name());
      if (item->nameList()) table.columns = read_names(item->nameList());
      if (item->IDENTIFIER()) expect_word(item->IDENTIFIER(), {"materialized"});
      if (item->query()) {
        table.query = std::make_shared<const Query>(read_query(item->query()));
      } else {
        table.change = std::make_shared<const syntax::Operation>(read_change_of_with(item));
      }
      tables.push_back(std::move(table));
    }
    return tables;
  }

  static QueryPart part(MnemeParser::SelectCoreContext* select, MnemeParser::ValuesContext* values,
                        MnemeParser::QueryContext* query) {
    QueryPart part;
    if (select) {
      part.where = location(select);
      part.select = core(select);
    } else if (values && values->TABLE()) {
      part.where = location(values);
      part.select = whole_table(values);
    } else if (values) {
      part.where = location(values);
      for (auto* row : values->insertRow()) {
        part.rows.push_back(read_row(row));
        if (part.rows.back().size() != part.rows.front().size())
          refuse(location(row), "VALUES lists must all be the same length");
      }
    } else {
      part.where = location(query);
      part.query = std::make_shared<const Query>(read_query(query));
    }
    return part;
  }

  static FromItem table_item(MnemeParser::TableItemContext* context) {
    FromItem first = primary(context->tablePrimary());
    if (context->joinedTable().empty()) return first;
    FromItem joins;
    joins.kind = FromItem::Kind::kJoins;
    joins.where = first.where;
    joins.first.push_back(std::move(first));
    for (auto* item : context->joinedTable()) joins.joins.push_back(join(item));
    return joins;
  }

 private:
  // TABLE t is SELECT * FROM t.
  static SelectCore whole_table(MnemeParser::ValuesContext* context) {
    SelectCore core;
    core.where = location(context);
    syntax::SelectItem& all = core.items.emplace_back();
    all.star = true;
    all.expr.where = core.where;
    FromItem& item = core.from.emplace_back();
    item.where = location(context->queriedRelation());
    read_relation_of(context->queriedRelation(), item);
    return core;
  }

  static void read_relation_of(MnemeParser::QueriedRelationContext* context, FromItem& item) {
    const auto names = context->name();
    item.name = read_name(names.back());
    if (names.size() == 1) return;
    item.schema = read_name(names[0]).text;
    if (is_system_schema(item.schema)) return;
    item.name.text = qualified_name(item.schema, item.name.text);
    if (item.schema != kPublicSchema) item.schema.clear();
  }

  static Query::More set_operation(MnemeParser::SetOperationContext* context) {
    const Query::Set set = context->UNION()    ? Query::Set::kUnion
                           : context->EXCEPT() ? Query::Set::kExcept
                                               : Query::Set::kIntersect;
    return {set, context->ALL() != nullptr, part(context->selectCore(), context->values(), context->query())};
  }

  static void read_tail(MnemeParser::QueryTailContext* context, Query& query) {
    const antlr4::tree::ParseTree* around = context->parent->parent;
    if (context->into() && dynamic_cast<const MnemeParser::StatementContext*>(around) == nullptr)
      refuse_into(context->into());
    for (auto* item : context->orderItem()) query.order.push_back(read_order_item(item));
    const auto once = [](bool written, antlr4::ParserRuleContext* again, std::string_view what) {
      if (written) refuse(location(again), "multiple {} clauses not allowed", what);
    };
    bool limited = false;
    for (auto* limit : context->limit()) {
      once(limited, limit, "LIMIT");
      limited = true;
      if (limit->expression()) query.limit = read_expression(limit->expression());
    }
    for (auto* fetch : context->fetch()) {
      once(limited, fetch, "LIMIT");
      limited = true;
      expect_word(fetch->IDENTIFIER(0), {"first", "next"});
      expect_word(fetch->IDENTIFIER(1), {"row", "rows"});
      if (fetch->WITH()) {
        expect_word(fetch->IDENTIFIER(2), {"ties"});
        query.with_ties = true;
        if (query.order.empty())
          refuse(location(fetch), "WITH TIES cannot be specified without ORDER BY clause");
      }
      if (fetch->primary()) {
        query.limit = read_primary(fetch->primary());
        continue;
      }
      syntax::Expr one;
      one.kind = syntax::ExprKind::kInteger;
      one.text = "1";
      one.where = location(fetch);
      query.limit = std::move(one);
    }
    for (auto* offset : context->offset()) {
      once(query.offset.has_value(), offset, "OFFSET");
      if (offset->IDENTIFIER()) expect_word(offset->IDENTIFIER(), {"row", "rows"});
      query.offset = read_expression(offset->expression());
    }
    for (auto* lock : context->forUpdate()) {
      std::vector<std::string> tables;
      if (query.first.select) {
        for (const FromItem& item : query.first.select->from) add_table_names(item, tables);
      }
      query.locks.push_back(read_lock(lock, tables));
      query.for_update = query.locks.back().where;
    }
  }

  static void add_table_names(const FromItem& item, std::vector<std::string>& names) {
    for (const FromItem& first : item.first) add_table_names(first, names);
    for (const FromItem::Join& join : item.joins) add_table_names(join.item, names);
    if (item.kind != FromItem::Kind::kJoins)
      names.push_back((item.alias.empty() ? item.name : item.alias).text);
  }

  static SelectCore core(MnemeParser::SelectCoreContext* context) {
    SelectCore core;
    core.where = location(context);
    // The INTO of a command, and of a procedure's statement, is read where these are.
    const antlr4::tree::ParseTree* around = context->parent->parent;
    const bool is_of_statement = dynamic_cast<const MnemeParser::StatementContext*>(around) != nullptr;
    const bool is_of_command = dynamic_cast<const MnemeParser::CommandContext*>(around) != nullptr;
    if (context->PERFORM() && !is_of_statement)
      refuse(location(context), "PERFORM begins a statement of a procedure; write SELECT");
    if (!context->into().empty() && !is_of_command && !is_of_statement) refuse_into(context->into(0));
    if (auto* distinct = context->distinct()) {
      core.distinct = true;
      for (auto* expr : distinct->expression()) core.distinct_on.push_back(read_expression(expr));
    }
    for (auto* item : context->queryItem()) core.items.push_back(query_item(item));
    for (auto* item : context->tableItem()) core.from.push_back(table_item(item));
    if (context->where) core.condition = read_expression(context->where);
    core.has_group = context->GROUP() != nullptr;
    if (core.has_group) {
      core.grouping_sets = read_grouping_sets(context->groupItem(), location(context));
      core.distinct_sets = context->DISTINCT() != nullptr;
    }
    if (context->having) core.having = read_expression(context->having);
    for (auto* window : context->namedWindow())
      core.windows.push_back({read_name(window->name()), read_window(window->windowDefinition())});
    return core;
  }

  static syntax::SelectItem query_item(MnemeParser::QueryItemContext* context) {
    syntax::SelectItem item;
    if (!context->expression()) {
      item.star = true;
      item.expr.where = location(context);
      if (!context->name().empty()) item.qualifier = read_source(context->name());
      return item;
    }
    item.expr = read_expression(context->expression());
    if (context->columnLabel()) item.alias = read_column_label(context->columnLabel());
    if (!context->name().empty()) {
      auto* label = context->name(0);
      item.alias = label->QUOTED_IDENTIFIER() ? read_column_label(label) : read_bare_label(label);
    }
    return item;
  }

  static FromItem::Join join(MnemeParser::JoinedTableContext* context) {
    FromItem::Join join;
    join.item = primary(context->tablePrimary());
    join.natural = context->NATURAL() != nullptr;
    if (auto* kind = context->joinKind()) {
      join.kind = kind->LEFT()    ? JoinKind::kLeft
                  : kind->RIGHT() ? JoinKind::kRight
                  : kind->FULL()  ? JoinKind::kFull
                                  : JoinKind::kInner;
    }
    if (context->expression()) join.on = read_expression(context->expression());
    if (context->nameList()) join.using_columns = read_names(context->nameList());
    return join;
  }

  static FromItem primary(MnemeParser::TablePrimaryContext* context) {
    FromItem item;
    item.where = location(context);
    if (auto* table = dynamic_cast<MnemeParser::NamedTableContext*>(context)) {
      read_relation_of(table->queriedRelation(), item);
      read_alias(table->tableAlias(), item);
    } else if (auto* derived = dynamic_cast<MnemeParser::DerivedTableContext*>(context)) {
      item.kind = FromItem::Kind::kQuery;
      item.lateral = derived->LATERAL() != nullptr;
      item.query = read_query(derived->nestedQuery());
      if (!derived->tableAlias()) refuse(item.where, "subquery in FROM must have an alias");
      read_alias(derived->tableAlias(), item);
    } else if (auto* function = dynamic_cast<MnemeParser::FunctionTableContext*>(context)) {
      item.kind = FromItem::Kind::kFunction;
      // The one reserved word among the functions that clients put here.
      auto* const name = function->name().back();
      item.name = lowered(name->getText()) == "current_schema"
                      ? syntax::Name{"current_schema", location(name)}
                      : read_name(name);
      if (function->name().size() == 2) {
        const std::string schema = read_name(function->name(0)).text;
        if (!is_system_schema(schema)) item.name.text = qualified_name(schema, item.name.text);
      }
      for (auto* arg : function->argument()) item.args.push_back(read_argument(arg));
      item.with_ordinality = function->IDENTIFIER() != nullptr;
      if (item.with_ordinality) expect_word(function->IDENTIFIER(), {"ordinality"});
      read_alias(function->tableAlias(), item);
      if (function->recordAlias()) read_records(function->recordAlias(), item);
    } else {
      auto* joins = dynamic_cast<MnemeParser::JoinedTablesContext*>(context);
      CHECK(joins != nullptr);
      return table_item(joins->tableItem());
    }
    return item;
  }

  static void read_records(MnemeParser::RecordAliasContext* context, FromItem& item) {
    const size_t columns = context->typeName().size();
    const bool is_named = context->name().size() > columns;
    if (is_named) item.alias = read_name(context->name(0));
    std::vector<syntax::Name> names;
    std::vector<syntax::TypeName> types;
    for (size_t i = 0; i < columns; ++i) {
      names.push_back(read_name(context->name(i + (is_named ? 1 : 0))));
      types.push_back(read_type(context->typeName(i)));
    }
    select_records(item, names, types);
  }

  static void read_alias(MnemeParser::TableAliasContext* context, FromItem& item) {
    if (!context) return;
    item.alias = read_name(context->name());
    if (context->nameList()) item.column_aliases = read_names(context->nameList());
  }
};

}  // namespace

void expect_word(antlr4::tree::TerminalNode* word, std::initializer_list<std::string_view> accepted) {
  const std::string text = lowered(word->getText());
  for (const std::string_view one : accepted) {
    if (text == one) return;
  }
  refuse(location(word->getSymbol()), "\"{}\" is not understood here", word->getText());
}

std::vector<Query::CommonTable> read_with(MnemeParser::WithContext* context, bool& recursive) {
  recursive = context->IDENTIFIER() != nullptr;
  if (recursive) expect_word(context->IDENTIFIER(), {"recursive"});
  return QueryReader::common_tables(context);
}

FromItem read_table_item(MnemeParser::TableItemContext* context) {
  return QueryReader::table_item(context);
}

syntax::OrderItem read_order_item(MnemeParser::OrderItemContext* context) {
  const bool descends = context->DESC() != nullptr || context->GREATER() != nullptr;
  syntax::OrderItem item{read_expression(context->expression()), descends};
  if (!context->IDENTIFIER().empty()) {
    expect_word(context->IDENTIFIER(0), {"nulls"});
    expect_word(context->IDENTIFIER(1), {"first", "last"});
    item.nulls_first = lowered(context->IDENTIFIER(1)->getText()) == "first";
  }
  return item;
}

std::vector<syntax::Expr> read_row(MnemeParser::InsertRowContext* context) {
  std::vector<syntax::Expr> values;
  for (auto* value : context->insertValue()) {
    syntax::Expr expr;
    expr.kind = syntax::ExprKind::kDefault;
    expr.where = location(value);
    values.push_back(value->expression() ? read_expression(value->expression()) : std::move(expr));
  }
  return values;
}

Query read_query(MnemeParser::QueryContext* context) {
  return QueryReader::read(context,
                           QueryReader::part(context->selectCore(), context->values(), context->query()));
}

std::shared_ptr<const Query> read_query(MnemeParser::NestedQueryContext* context) {
  return std::make_shared<const Query>(QueryReader::read(
      context, QueryReader::part(context->selectCore(), context->values(), context->query())));
}

std::shared_ptr<const Query> read_query(MnemeParser::SelectQueryContext* context) {
  return std::make_shared<const Query>(
      QueryReader::read(context, QueryReader::part(context->selectCore(), nullptr, context->query())));
}

}  // namespace mneme
