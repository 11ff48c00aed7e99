// Names, types, and the texts of literals: what the leaves of the syntax tree are.
#include <algorithm>

#include "base/ascii.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

namespace {

bool is_plain_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

uint32_t read_modifier(antlr4::tree::TerminalNode* number) {
  const std::string digits = number->getText();
  if (digits.size() > 6) refuse(location(number->getSymbol()), "{} is too large a number in a type", digits);
  return static_cast<uint32_t>(std::stoul(digits));
}

}  // namespace

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

// 1.5e-3 as 0.0015.
std::string without_exponent(const std::string& text, syntax::SourceLocation where) {
  constexpr long kFar = 1000;  // more than any number has digits
  const size_t e = text.find_first_of("eE");
  std::string digits = text.substr(0, e);
  const std::string written = text.substr(e + 1);
  const long exponent = written.size() > 5 ? kFar : std::stol(written);
  if (exponent > 40 || exponent < -40)
    refuse_as(sqlstate::kOutOfRange, where, "the number {} has more than 38 digits", text);
  const size_t point = digits.find('.');
  long scale = 0;
  if (point != std::string::npos) {
    scale = static_cast<long>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  scale -= exponent;
  for (; scale < 0; ++scale) digits += '0';
  while (static_cast<long>(digits.size()) <= scale) digits.insert(digits.begin(), '0');
  if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), 1, '.');
  return digits;
}

// E'...', in which a backslash begins an escape.
std::string read_escaped_string(antlr4::tree::TerminalNode* literal) {
  const std::string quoted = literal->getText();
  const auto where = location(literal->getSymbol());
  std::string text;
  for (size_t i = 2; i + 1 < quoted.size(); ++i) {
    char c = quoted[i];
    if (c == '\'') ++i;
    if (c == '\\') {
      c = quoted[++i];
      const std::string_view names = "bfnrt";
      const std::string_view values = "\b\f\n\r\t";
      const auto digit = [&](size_t at, int base) {
        if (at + 1 >= quoted.size()) return -1;
        const char each = quoted[at];
        const int value = each >= '0' && each <= '9'   ? each - '0'
                          : each >= 'a' && each <= 'f' ? each - 'a' + 10
                          : each >= 'A' && each <= 'F' ? each - 'A' + 10
                                                       : base;
        return value < base ? value : -1;
      };
      if (const size_t named = names.find(c); named != std::string_view::npos) {
        c = values[named];
      } else if (digit(i, 8) >= 0 || (c == 'x' && digit(i + 1, 16) >= 0)) {
        const int base = c == 'x' ? 16 : 8;
        size_t at = c == 'x' ? i + 1 : i;
        const size_t end = at + (c == 'x' ? 2 : 3);
        int code = 0;
        for (; at < end && digit(at, base) >= 0; ++at) code = code * base + digit(at, base);
        i = at - 1;
        if (code <= 0 || code > 127) refuse(where, "this string holds a character that is not ASCII");
        c = static_cast<char>(code);
      } else if (c == 'u' || c == 'U') {
        refuse_as(sqlstate::kNotSupported, where,
                  "Unicode escapes are not supported; strings are ASCII only");
      }
    }
    if (c == kNotAscii)
      refuse(where, "this string holds a character that is not ASCII; strings are ASCII only");
    text.push_back(c);
  }
  return text;
}

syntax::SourceLocation location(antlr4::Token* token) {
  return {static_cast<uint32_t>(token->getLine()), static_cast<uint32_t>(token->getCharPositionInLine() + 1)};
}

syntax::SourceLocation location(antlr4::ParserRuleContext* context) {
  return location(context->getStart());
}

namespace {

// A name without its quotes, or in lower case; any word.
std::string plain_name(antlr4::ParserRuleContext* context, antlr4::tree::TerminalNode* quoted) {
  std::string text = context->getText();
  if (!quoted) {
    text = lowered(text);
  } else {
    text = text.substr(1, text.size() - 2);
    if (!is_plain_name(text)) {
      refuse_as(
          sqlstate::kNotSupported, location(context),
          "the quoted name \"{}\" is not supported: names are lower-case letters, digits and _; rename it",
          text);
    }
  }
  if (text.size() > 63) {
    refuse(location(context), "the name \"{}\" is longer than the 63 characters that PostgreSQL keeps", text);
  }
  return text;
}

}  // namespace

syntax::Name read_name(MnemeParser::NameContext* context) {
  const auto where = location(context);
  std::string text = plain_name(context, context->QUOTED_IDENTIFIER());
  if (context->QUOTED_IDENTIFIER()) return {text, where};
  if (is_reserved_word(text)) {
    const std::string_view advice = advice_for_word(text);
    if (!advice.empty()) refuse(where, "{}", advice);
    refuse(where, "\"{}\" is a word that PostgreSQL reserves and can't be a name here; choose another name",
           text);
  }
  return {text, where};
}

syntax::Name read_relation(MnemeParser::RelationContext* context) {
  if (context->name().size() == 1) return read_name(context->name(0));
  const std::string schema = plain_name(context->name(0), context->name(0)->QUOTED_IDENTIFIER());
  const syntax::Name name = read_name(context->name(1));
  if (schema != "public") {
    refuse_as(sqlstate::kUndefinedTable, location(context), "relation \"{}.{}\" does not exist", schema,
              name.text);
  }
  return name;
}

syntax::Name read_label(MnemeParser::LabelNameContext* context) {
  antlr4::tree::TerminalNode* quoted = context->name() ? context->name()->QUOTED_IDENTIFIER() : nullptr;
  std::string text = plain_name(context, quoted);
  if (!quoted && is_reserved_in_plpgsql(text)) {
    refuse(location(context), "\"{}\" is a word that PL/pgSQL reserves and can't be a label; choose another",
           text);
  }
  return {text, location(context)};
}

syntax::Name read_column_label(MnemeParser::ColumnLabelContext* context) {
  std::string text = context->getText();
  if (text.front() != '"') return {lowered(text), location(context)};
  text = text.substr(1, text.size() - 2);
  if (text.find(kNotAscii) != std::string::npos) {
    refuse_as(sqlstate::kNotSupported, location(context), "the name {} is not supported: names are ASCII",
              context->getText());
  }
  return {text, location(context)};
}

std::string read_string(antlr4::tree::TerminalNode* literal) {
  const std::string quoted = literal->getText();
  std::string text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == kNotAscii) {
      refuse(location(literal->getSymbol()),
             "this string holds a character that is not ASCII; strings are ASCII only");
    }
    text.push_back(quoted[i]);
    if (quoted[i] == '\'') ++i;
  }
  return text;
}

syntax::TypeName read_type(MnemeParser::TypeNameContext* context) {
  syntax::TypeName type;
  type.where = location(context);
  if (auto* of_column = dynamic_cast<MnemeParser::ColumnTypeContext*>(context)) {
    const std::string kind = lowered(of_column->name(2)->getText());
    if (kind == "rowtype" && lowered(of_column->name(0)->getText()) == "public") {
      type.base = syntax::kRowType;
      type.table = read_name(of_column->name(1));
      return type;
    }
    if (kind != "type") {
      refuse(type.where, "a type after % is not understood; write table.column%TYPE");
    }
    type.table = read_name(of_column->name(0));
    type.column = read_name(of_column->name(1));
    return type;
  }
  if (auto* of_row = dynamic_cast<MnemeParser::RowTypeContext*>(context)) {
    if (lowered(of_row->name(1)->getText()) != "rowtype")
      refuse(type.where, "a type after % is not understood; write table.column%TYPE or table%ROWTYPE");
    type.base = syntax::kRowType;
    type.table = read_name(of_row->name(0));
    return type;
  }
  auto* plain = dynamic_cast<MnemeParser::PlainTypeContext*>(context);
  CHECK(plain != nullptr);
  auto* base = plain->baseType();
  if (base->DOUBLE_()) {
    type.base = "double precision";
  } else if (base->CHARACTER()) {
    type.base = base->VARYING() ? "varchar" : "char";
  } else {
    type.base = base->TIMESTAMP() ? "timestamp" : lowered(base->name().back()->getText());
    if (base->name().size() == 2 && lowered(base->name(0)->getText()) != "pg_catalog") {
      refuse_as(sqlstate::kUndefinedObject, type.where, "type \"{}.{}\" does not exist",
                base->name(0)->getText(), type.base);
    }
  }
  if (base->WITHOUT() && type.base != "timestamp") {
    refuse(type.where, "WITHOUT TIME ZONE belongs to the type timestamp alone, not to {}", type.base);
  }
  if (auto* modifiers = base->modifiers()) {
    for (auto* number : modifiers->INTEGER()) type.modifiers.push_back(read_modifier(number));
  }
  type.is_array = plain->LBRACKET() != nullptr;
  return type;
}

}  // namespace mneme
