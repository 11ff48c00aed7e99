// Calls of the syntax tree, and what is written in words of its own inside of their parentheses.
#include <algorithm>
#include <iterator>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using syntax::Expr;
using syntax::ExprKind;

Expr read_argument(MnemeParser::ArgumentContext* context) {
  Expr value = read_expression(context->expression());
  if (!context->name()) return value;
  const syntax::Name name = read_name(context->name());
  Expr named = syntax::make_expression(ExprKind::kNamed, name.where);
  named.text = name.text;
  named.args.push_back(std::move(value));
  return named;
}

namespace {

// json_agg(x) and its kind are string_agg() of the texts that their values have in a json. The functions that
// give these texts are query/form_binder.cc's.
Expr of_texts(Expr call) {
  struct Form {
    std::string_view name;
    size_t arguments;
    const char* part;
    const char* whole;
  };
  constexpr Form kForms[] = {{"json_agg", 1, "mneme_json_part", "mneme_json_list"},
                             {"jsonb_agg", 1, "mneme_json_part", "mneme_jsonb_list"},
                             {"json_object_agg", 2, "mneme_json_member", "mneme_json_object"},
                             {"jsonb_object_agg", 2, "mneme_json_member", "mneme_jsonb_object"}};
  const auto* const form = std::ranges::find(kForms, call.text, &Form::name);
  if (form == std::end(kForms) || call.star || call.args.size() != form->arguments) return call;
  const auto where = call.where;
  std::string name = std::move(call.text);
  std::vector<Expr> values(std::make_move_iterator(call.args.begin()),
                           std::make_move_iterator(call.args.end()));
  Expr separator = syntax::make_expression(ExprKind::kString, where);
  separator.text = ", ";
  if (form->arguments == 1) separator = syntax::make_call("mneme_json_comma", {values[0]}, where);
  call.text = "string_agg";
  call.args.clear();
  call.args.push_back(syntax::make_call(form->part, std::move(values), where));
  call.args.push_back(std::move(separator));
  std::vector<Expr> parts;
  parts.push_back(std::move(call));
  Expr whole = syntax::make_call(form->whole, std::move(parts), where);
  whole.column_name = std::move(name);
  return whole;
}

Expr read_call(MnemeParser::CallContext* context) {
  // These are what expressions become, with arguments that were looked at.
  if (const std::string name = lowered(context->functionName()->getText()); name.starts_with("mneme_"))
    refuse_as(sqlstate::kUndefinedFunction, location(context), "function {}() does not exist", name);
  Expr expr = syntax::make_expression(ExprKind::kCall, location(context));
  // Without quotes a reserved word may be a function's name, as in current_schema().
  auto* const name = context->functionName()->name();
  const bool is_quoted = name != nullptr && name->QUOTED_IDENTIFIER() != nullptr;
  expr.text = is_quoted ? read_name(name).text : lowered(context->functionName()->getText());
  // ROW(a, b) is the row (a, b).
  if (expr.text == "row" && !context->name() && !context->STAR() && !is_quoted) {
    expr.kind = ExprKind::kRow;
    for (auto* arg : context->argument()) expr.args.push_back(read_argument(arg));
    return expr;
  }
  const std::string schema = context->name() ? read_name(context->name()).text : "pg_catalog";
  if (schema == "information_schema" && expr.text == "_pg_expandarray") {
    expr.column_name = expr.text;
    expr.text = syntax::kExpandArray;
  } else if (schema != "pg_catalog") {
    expr.qualifier = schema;
    expr.text = qualified_name(schema, expr.text);
  }
  // The name that clients know from an extension.
  if (expr.text == "uuid_generate_v4" && !is_quoted) {
    expr.column_name = expr.text;
    expr.text = "gen_random_uuid";
  }
  expr.star = context->STAR() != nullptr;
  expr.distinct = context->DISTINCT() != nullptr;
  if (context->WHERE()) {
    if (lowered(context->IDENTIFIER()->getText()) != "filter") {
      refuse(location(context->IDENTIFIER()->getSymbol()), "\"{}\" is not understood here",
             context->IDENTIFIER()->getText());
    }
    expr.filter = std::make_shared<const Expr>(read_expression(context->expression()));
  }
  for (auto* arg : context->argument()) expr.args.push_back(read_argument(arg));
  if (context->ORDER()) {
    std::vector<syntax::OrderItem> order;
    for (auto* item : context->orderItem()) order.push_back(read_order_item(item));
    expr.order = std::make_shared<const std::vector<syntax::OrderItem>>(std::move(order));
  }
  if (auto* within = context->withinGroup()) {
    expect_word(within->IDENTIFIER(), {"within"});
    if (expr.order || expr.distinct)
      refuse(location(within), "cannot use multiple ORDER BY clauses, or DISTINCT, with WITHIN GROUP");
    std::vector<syntax::OrderItem> order;
    for (auto* item : within->orderItem()) order.push_back(read_order_item(item));
    expr.order = std::make_shared<const std::vector<syntax::OrderItem>>(std::move(order));
    expr.within_group = true;
  }
  if (context->over()) expr.window = std::make_shared<const syntax::Window>(read_window(context->over()));
  return of_texts(std::move(expr));
}

// extract(unit FROM time) is a call with the unit as a quoted word.
Expr read_extract(MnemeParser::SubstringCallContext& call, syntax::SourceLocation where) {
  Expr unit = read_expression(call.expression(0));
  if (unit.kind == ExprKind::kReference && unit.qualifier.empty()) unit.kind = ExprKind::kString;
  std::vector<Expr> args;
  args.push_back(std::move(unit));
  args.push_back(read_expression(call.expression(1)));
  return syntax::make_call("extract", std::move(args), where);
}

bool is_side(const std::string& word) {
  return word == "both" || word == "leading" || word == "trailing";
}

// trim([side] [characters] FROM text) is btrim, ltrim or rtrim(text[, characters]).
Expr make_trim(const std::string& side, std::optional<Expr> characters, Expr text,
               syntax::SourceLocation where) {
  std::vector<Expr> args;
  args.push_back(std::move(text));
  if (characters) args.push_back(*std::move(characters));
  return syntax::make_call(side == "leading"    ? "ltrim"
                           : side == "trailing" ? "rtrim"
                                                : "trim",
                           std::move(args), where);
}

// The grammar reads a quoted string behind BOTH, LEADING or TRAILING as a literal of a type of that name.
Expr read_trim(MnemeParser::SubstringCallContext& call, syntax::SourceLocation where) {
  Expr text = read_expression(call.expression(1));
  const std::string word = lowered(call.expression(0)->getText());
  if (is_side(word)) return make_trim(word, std::nullopt, std::move(text), where);
  Expr first = read_expression(call.expression(0));
  Expr* leftmost = &first;
  const auto goes_on = [](const Expr& expr) {
    return expr.kind == ExprKind::kBinary || expr.kind == ExprKind::kCast;
  };
  while (goes_on(*leftmost) && !is_side(leftmost->type.base)) leftmost = &leftmost->args[0];
  if (leftmost->kind == ExprKind::kCast) {
    const std::string side = leftmost->type.base;
    *leftmost = Expr(leftmost->args[0]);
    return make_trim(side, std::move(first), std::move(text), where);
  }
  return make_trim("both", std::move(first), std::move(text), where);
}

}  // namespace

std::optional<Expr> read_special_call(MnemeParser::PrimaryContext* context) {
  const auto where = location(context);
  if (auto* call = dynamic_cast<MnemeParser::CallContext*>(context)) return read_call(call);
  if (auto* overlay = dynamic_cast<MnemeParser::OverlayCallContext*>(context)) {
    if (lowered(overlay->name()->getText()) != "overlay")
      refuse(where, "\"{}\" is not understood here", overlay->IDENTIFIER()->getText());
    expect_word(overlay->IDENTIFIER(), {"placing"});
    std::vector<Expr> args;
    for (auto* arg : overlay->expression()) args.push_back(read_expression(arg));
    return syntax::make_call("overlay", std::move(args), where);
  }
  if (auto* position = dynamic_cast<MnemeParser::PositionCallContext*>(context)) {
    if (lowered(position->name()->getText()) != "position") {
      refuse(where, "IN inside the arguments of {}() is not understood; only position(a IN b) is written so",
             position->name()->getText());
    }
    std::vector<Expr> args;  // position(sought IN text) is strpos(text, sought)
    args.push_back(read_concatenation(position->concatenation(1)));
    args.push_back(read_concatenation(position->concatenation(0)));
    Expr call = syntax::make_call("strpos", std::move(args), where);
    call.column_name = "position";
    return call;
  }
  if (auto* trim = dynamic_cast<MnemeParser::TrimCallContext*>(context)) {
    if (lowered(trim->name()->getText()) != "trim")
      refuse(where, "FROM inside the arguments of {}() is not understood", trim->name()->getText());
    expect_word(trim->IDENTIFIER(), {"both", "leading", "trailing"});
    return make_trim(lowered(trim->IDENTIFIER()->getText()), read_expression(trim->expression(0)),
                     read_expression(trim->expression(1)), where);
  }
  if (auto* substring = dynamic_cast<MnemeParser::SubstringCallContext*>(context)) {
    if (lowered(substring->name()->getText()) == "extract" && substring->expression().size() == 2)
      return read_extract(*substring, where);
    if (lowered(substring->name()->getText()) == "trim" && substring->expression().size() == 2)
      return read_trim(*substring, where);
    if (lowered(substring->name()->getText()) != "substring") {
      refuse_as(
          sqlstate::kNotSupported, where,
          "FROM inside the arguments of {}() is not supported; only substring(a FROM b FOR c) is written so",
          substring->name()->getText());
    }
    std::vector<Expr> args;
    for (auto* arg : substring->expression()) args.push_back(read_expression(arg));
    return syntax::make_call("substring", std::move(args), where);
  }
  return std::nullopt;
}

}  // namespace mneme
