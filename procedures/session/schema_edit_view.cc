// CREATE VIEW and DROP VIEW, and what views ask of the changes of what they read.
#include <algorithm>

#include "procedures/catalog/system_catalog.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"
#include "procedures/query/bound_select.h"
#include "procedures/session/schema_edit.h"

namespace mneme {

namespace {

constexpr const char* kInvalidView = "42P16";

std::vector<ResultColumn> columns_of(const Program& program, const syntax::Query& query) {
  const SystemCatalog system(program, nullptr);
  std::vector<Type> parameters;
  return bind_select(program, query, parameters, nullptr, &system)->columns;
}

std::string view_text(const View& view) {
  std::string columns;
  for (const std::string& column : view.columns)
    columns += (columns.empty() ? "" : ", ") + written_name(column);
  return fmt::format("CREATE VIEW {} ({}) AS {}", written_name(view.name), columns, view.text);
}

}  // namespace

std::unique_ptr<Program> SchemaEdit::create_view(const syntax::Definition& made) {
  const syntax::View& view = *made.view;
  const View* former = program_.find_view(view.name.text);
  if (command_.parameters > 0)
    refuse_change(sqlstate::kUndefinedParameter, "there is no parameter $1: a view has none");
  if (program_.catalog.has_relation(view.name.text) || (former != nullptr && !view.replaces))
    refuse_change(sqlstate_of_catalog::kDuplicateTable, "relation \"{}\" already exists", view.name.text);
  if (view.query->changes_in_with())
    refuse_change(sqlstate::kNotSupported, "views must not contain data-modifying statements in WITH");
  View stored{view.name.text, {}, view.text};
  Program without = program_;
  std::vector<ResultColumn> columns;
  std::vector<ResultColumn> former_columns;
  try {
    if (former != nullptr) {
      former_columns = columns_of(program_, *parse_command(former->text).operation->query);
      without.views.erase(static_cast<size_t>(std::ranges::find(program_.views, view.name.text, &View::name) -
                                              program_.views.begin()));
    }
    columns = columns_of(without, *view.query);
  } catch (const SourceError& error) {
    throw Refusal{failure_of(error)};
  }
  if (view.columns.size() > columns.size())
    refuse_change(sqlstate::kSyntaxError, "CREATE VIEW specifies more column names than columns");
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string name = i < view.columns.size() ? view.columns[i].text : columns[i].name;
    if (std::ranges::find(stored.columns, name) != stored.columns.end())
      refuse_change("42701", "column \"{}\" specified more than once", name);
    stored.columns.push_back(std::move(name));
  }
  if (former != nullptr) {
    if (former->columns.size() > columns.size()) refuse_change(kInvalidView, "cannot drop columns from view");
    for (size_t i = 0; i < former->columns.size(); ++i) {
      if (former->columns[i] != stored.columns[i]) {
        refuse_change(kInvalidView, "cannot change name of view column \"{}\" to \"{}\"", former->columns[i],
                      stored.columns[i]);
      }
      if (former_columns[i].type.kind != columns[i].type.kind)
        refuse_change(kInvalidView, "cannot change data type of view column \"{}\"", stored.columns[i]);
    }
  }
  const std::unique_ptr<Program> base =
      former == nullptr ? std::make_unique<Program>(program_) : without_view(view.name.text);
  try {
    return with_definition(*base, view_text(stored));
  } catch (const SourceError& error) {
    refuse_change(sqlstate::kNotSupported,
                  "view {} has a column whose name is not supported: {}; give it another one, by AS",
                  view.name.text, error.message);
  }
}

std::unique_ptr<Program> SchemaEdit::without_view(const std::string& name) const {
  Pieces pieces = pieces_of(program_.source);
  pieces.erase(find(pieces, Kind::kView, name));
  std::unique_ptr<Program> program =
      changed(program_.catalog, std::move(pieces), std::vector<char>(program_.procedures.size()));
  program->views.erase(
      static_cast<size_t>(std::ranges::find(program_.views, name, &View::name) - program_.views.begin()));
  return program;
}

std::unique_ptr<Program> SchemaEdit::drop_view(const std::string& name) {
  if (program_.find_view(name) == nullptr) {
    if (program_.catalog.has_relation(name))
      refuse_change(sqlstate::kWrongObject, "\"{}\" is not a view", name);
    refuse_change(sqlstate::kUndefinedTable, "view \"{}\" does not exist", name);
  }
  return without_view(name);
}

// Sees to it that the views of `next` mean what they did in this program. Drops those that can't, where the
// statement says CASCADE.
std::unique_ptr<Program> SchemaEdit::with_views_as_they_were(std::unique_ptr<Program> next) {
  std::vector<std::string> dropped;
  for (size_t i = 0; i < next->views.size();) {
    const View& view = next->views[i];
    const syntax::Query query = *parse_command(view.text).operation->query;
    std::string why;
    try {
      const std::vector<ResultColumn> before = columns_of(program_, query);
      const std::vector<ResultColumn> after = columns_of(*next, query);
      const auto same = [](const ResultColumn& a, const ResultColumn& b) {
        return a.name == b.name && a.type == b.type;
      };
      if (!std::ranges::equal(before, after, same)) why = "its columns would be others";
    } catch (const SourceError& error) {
      why = error.message;
    }
    if (why.empty()) {
      ++i;
      continue;
    }
    const bool drops = command_.kind == syntax::Command::Kind::kDrop ||
                       (command_.definition->alteration &&
                        command_.definition->alteration->kind == syntax::Alteration::Kind::kDropColumn);
    const bool cascades =
        command_.cascades || (drops && command_.definition && command_.definition->alteration->cascades);
    if (!cascades) {
      refuse_change(drops ? sqlstate_of_catalog::kNeededByOthers : sqlstate::kNotSupported,
                    "cannot change what view {} reads: {}; drop the view first", view.name, why);
    }
    dropped.push_back("view " + view.name);
    const std::string name = view.name;
    next = SchemaEdit(*next, command_).without_view(name);
    i = 0;
  }
  if (dropped.size() == 1) notify("drop cascades to " + dropped[0]);
  if (dropped.size() > 1) notify(fmt::format("drop cascades to {} other objects", dropped.size()));
  return next;
}

}  // namespace mneme
