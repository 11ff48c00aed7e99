#include "procedures/typing/enum_binder.h"

#include <algorithm>

#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

using Kind = syntax::EnumChange::Kind;
using Labels = std::vector<EnumLabel>;

constexpr size_t kLongestLabel = 63;
constexpr const char* kInvalidName = "42602";
constexpr const char* kTypeExists = "42710";
constexpr const char* kDuplicateLabel = "23505";

void check_enum_label(const std::string& label, ir::SourceLocation where) {
  if (label.size() <= kLongestLabel) return;
  refuse_as(kInvalidName, where, "invalid enum label \"{}\": labels must be {} bytes or less", label,
            kLongestLabel);
}

void check_free_type(const std::string& name, ir::SourceLocation where, const Catalog& catalog) {
  if (catalog.find_enum(name) || catalog.has_relation(name))
    refuse_as(kTypeExists, where, "type \"{}\" already exists", name);
}

Labels::iterator find_enum_label(Labels& labels, const std::string& text, const Type& type,
                                 ir::SourceLocation where) {
  const auto found = std::ranges::find(labels, text, &EnumLabel::text);
  if (found == labels.end()) {
    refuse_as(sqlstate::kInvalidParameter, where, "\"{}\" is not an existing enum label of type {}", text,
              to_string(type));
  }
  return found;
}

// Refuses a label that the type has. Returns false if the statement says that it may be there.
bool is_new_label(const Labels& labels, const std::string& text, bool if_not_exists,
                  ir::SourceLocation where) {
  if (std::ranges::find(labels, text, &EnumLabel::text) == labels.end()) return true;
  if (if_not_exists) return false;
  refuse_as(kTypeExists, where, "enum label \"{}\" already exists", text);
}

// The label comes into the middle between its neighbours, so that the others keep their positions.
void add_label(const syntax::EnumChange& change, const Type& type, Labels& labels) {
  const ir::SourceLocation where = change.name.where;
  check_enum_label(change.labels[0], where);
  auto at = labels.end();
  if (change.is_before || change.is_behind) {
    at = find_enum_label(labels, change.neighbour, type, where);
    if (change.is_behind) ++at;
  }
  EnumLabel label{change.labels[0], kEnumLabelDistance};
  if (at == labels.end()) {
    if (!labels.empty()) label.position = labels.back().position + kEnumLabelDistance;
  } else if (at == labels.begin()) {
    label.position = at->position - kEnumLabelDistance;
  } else {
    const int64_t before = std::prev(at)->position;
    label.position = before + (at->position - before) / 2;
    if (label.position == before) {
      refuse_as(sqlstate::kNotSupported, where,
                "there is no place left between the labels \"{}\" and \"{}\" of type {}: 32 labels at most "
                "come one between the others; make another type, and ALTER the columns' types to it",
                std::prev(at)->text, at->text, to_string(type));
    }
  }
  labels.insert(at, std::move(label));
}

// A column's DEFAULT goes on to be the label, as in PostgreSQL. Conditions that have it in them are refused:
// they are kept as their texts.
void rename_in_columns(const Type& type, const std::string& former, const std::string& name,
                       ir::SourceLocation where, Catalog& catalog) {
  const std::string quoted = written_string(former);
  for (uint32_t t = 0; t < catalog.tables().size(); ++t) {
    const TableDefinition table = catalog.table(TableId{t});
    for (uint32_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].type != type || !table.columns[c].initial.starts_with(quoted)) continue;
      catalog.set_default(table.id, ColumnId{c}, written_string(name));
    }
    for (const CheckConstraint& check : table.checks) {
      const bool is_of_type = std::ranges::any_of(
          check.columns, [&](ColumnId column) { return table.column(column).type == type; });
      if (!is_of_type || check.condition.find(quoted) == std::string::npos) continue;
      refuse_as(
          sqlstate::kNotSupported, where,
          "the constraint {} of table {} has the label \"{}\" in it, and is kept as it was written; drop "
          "it first, and add it with the new label",
          check.name, table.name, former);
    }
  }
}

}  // namespace

void bind_enum(const syntax::EnumChange& change, Catalog& catalog) {
  const ir::SourceLocation where = change.name.where;
  const auto take = [&](const auto& made) {
    if (!made.ok()) refuse_as(sqlstate::kProgramLimit, where, "{}", made.error().message);
  };
  if (change.kind == Kind::kCreate) {
    check_free_type(change.name.text, where, catalog);
    EnumDefinition definition;
    definition.name = change.name.text;
    definition.shown = shown_name(change.name.text);
    for (const std::string& label : change.labels) {
      check_enum_label(label, where);
      const bool is_twice =
          std::ranges::find(definition.labels, label, &EnumLabel::text) != definition.labels.end();
      if (is_twice) refuse_as(kDuplicateLabel, where, "the label \"{}\" is there twice", label);
      definition.labels.push_back(
          {label, static_cast<int64_t>(definition.labels.size() + 1) * kEnumLabelDistance});
    }
    return take(catalog.add_enum(std::move(definition)));
  }
  const std::optional<Type> type = catalog.find_enum(change.name.text);
  if (!type) refuse_as(sqlstate::kUndefinedObject, where, "type \"{}\" does not exist", change.name.text);
  if (change.kind == Kind::kDrop) return catalog.drop_enum(*type);
  EnumDefinition definition = enum_definition(*type);
  switch (change.kind) {
    case Kind::kAddValue:
      if (!is_new_label(definition.labels, change.labels[0], change.if_not_exists, where)) return;
      add_label(change, *type, definition.labels);
      break;
    case Kind::kRenameValue: {
      const auto label = find_enum_label(definition.labels, change.labels[0], *type, where);
      check_enum_label(change.new_label, where);
      (void)is_new_label(definition.labels, change.new_label, false, where);
      rename_in_columns(*type, change.labels[0], change.new_label, where, catalog);
      label->text = change.new_label;
      break;
    }
    default:
      check_free_type(change.new_name.text, where, catalog);
      definition.name = change.new_name.text;
      definition.shown = shown_name(definition.name);
  }
  take(catalog.change_enum(*type, definition));
}

}  // namespace mneme
