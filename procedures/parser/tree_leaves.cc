// Names, types, and the texts of literals: what the leaves of the syntax tree are.
#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/tree_reader.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

uint32_t read_modifier(antlr4::tree::TerminalNode* number) {
  const std::string digits = number->getText();
  if (digits.size() > 6) refuse(location(number->getSymbol()), "{} is too large a number in a type", digits);
  return static_cast<uint32_t>(std::stoul(digits));
}

}  // namespace

std::vector<uint32_t> read_modifiers(MnemeParser::ModifiersContext* context) {
  std::vector<uint32_t> modifiers;
  for (auto* number : context->INTEGER()) modifiers.push_back(read_modifier(number));
  return modifiers;
}

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

// 1.5e-3 as 0.0015.
std::string without_exponent(const std::string& text, syntax::SourceLocation where) {
  constexpr long kFar = 1000;
  constexpr long kMost = 400;  // more than any double has digits
  const size_t e = text.find_first_of("eE");
  std::string digits = text.substr(0, e);
  const std::string written = text.substr(e + 1);
  const long exponent = written.size() > 5 ? kFar : std::stol(written);
  if (exponent > kMost || exponent < -kMost)
    refuse_as(sqlstate::kNotSupported, where, "the number {} has more than 38 digits", text);
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

namespace {

void check_text(const std::string& text, syntax::SourceLocation where) {
  const size_t bad = invalid_utf8(text);
  if (bad != std::string::npos)
    refuse_as(sqlstate::kNotInRepertoire, where, "{}", invalid_utf8_message(text, bad));
}

constexpr bool is_high_surrogate(uint32_t code) {
  return code >= 0xd800 && code < 0xdc00;
}
constexpr bool is_low_surrogate(uint32_t code) {
  return code >= 0xdc00 && code < 0xe000;
}

// What stands between the quotes of E'...', read from its front.
class EscapedText {
 public:
  EscapedText(std::string_view written, syntax::SourceLocation where) : rest_(written), where_(where) {}

  std::string read() {
    std::string text;
    while (!rest_.empty()) {
      const char c = take();
      if (c == '\'') take();
      if (c == '\\') {
        read_escape(text);
      } else {
        text.push_back(c);
      }
    }
    check_text(text, where_);
    return text;
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  // The number that up to `most` digits at the front make; nothing where there is none.
  std::optional<uint32_t> take_number(uint32_t base, size_t most, size_t least = 1) {
    uint32_t number = 0;
    size_t count = 0;
    for (; count < std::min(most, rest_.size()); ++count) {
      const char c = ascii_lower(rest_[count]);
      const uint32_t digit = is_ascii_digit(c)      ? static_cast<uint32_t>(c - '0')
                             : c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a') + 10
                                                    : base;
      if (digit >= base) break;
      number = number * base + digit;
    }
    if (count < least) return std::nullopt;
    rest_.remove_prefix(count);
    return number;
  }

  // Reads what follows a backslash.
  void read_escape(std::string& text) {
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kValues = "\b\f\n\r\t";
    if (const auto octal = take_number(8, 3)) return text.push_back(static_cast<char>(*octal));
    const char c = take();
    if (const size_t named = kNames.find(c); named != kNames.npos) return text.push_back(kValues[named]);
    if (c == 'u' || c == 'U') return read_character(c, text);
    const std::optional<uint32_t> hexadecimal = c == 'x' ? take_number(16, 2) : std::nullopt;
    text.push_back(hexadecimal ? static_cast<char>(*hexadecimal) : c);
  }

  // \uXXXX or \UXXXXXXXX; two may be the halves of one character, as in UTF-16.
  void read_character(char kind, std::string& text) {
    uint32_t code = take_code(kind);
    if (is_high_surrogate(code)) {
      const bool follows = rest_.starts_with("\\u") || rest_.starts_with("\\U");
      if (!follows) refuse(where_, "invalid Unicode surrogate pair");
      take();
      const uint32_t low = take_code(take());
      if (!is_low_surrogate(low)) refuse(where_, "invalid Unicode surrogate pair");
      code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
    } else if (is_low_surrogate(code)) {
      refuse(where_, "invalid Unicode surrogate pair");
    }
    if (!append_character(code, text)) refuse(where_, "invalid Unicode escape value");
  }
  uint32_t take_code(char kind) {
    const size_t digits = kind == 'u' ? 4 : 8;
    const std::optional<uint32_t> code = take_number(16, digits, digits);
    if (!code) {
      refuse_as(sqlstate::kInvalidEscapeSequence, where_,
                "invalid Unicode escape: Unicode escapes must be \\uXXXX or \\UXXXXXXXX");
    }
    return *code;
  }

  std::string_view rest_;
  const syntax::SourceLocation where_;
};

}  // namespace

// E'...', in which a backslash begins an escape.
std::string read_escaped_string(antlr4::tree::TerminalNode* literal) {
  const std::string quoted = literal->getText();
  return EscapedText(std::string_view(quoted).substr(2, quoted.size() - 3), location(literal->getSymbol()))
      .read();
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
  text = read_written_name(text);
  if (quoted) check_text(text, location(context));
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; })) {
    refuse_as(sqlstate::kNotSupported, location(context),
              "a name with a control character in it is not supported; rename it");
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

syntax::Name read_any_name(MnemeParser::NameContext* context) {
  if (!context->QUOTED_IDENTIFIER()) return read_name(context);
  return {read_written_name(context->getText()), location(context)};
}

syntax::Name read_qualified(const std::vector<MnemeParser::NameContext*>& names) {
  if (names.size() == 1) return read_name(names[0]);
  const std::string schema = plain_name(names[0], names[0]->QUOTED_IDENTIFIER());
  return {qualified_name(schema, read_name(names[1]).text), location(names[0])};
}

syntax::Name read_source(const std::vector<MnemeParser::NameContext*>& names) {
  return names.size() == 2 && is_system_schema(read_name(names[0]).text) ? read_name(names[1])
                                                                         : read_qualified(names);
}

syntax::Name read_relation(MnemeParser::RelationContext* context) {
  return read_qualified(context->name());
}

syntax::Name read_beside(const syntax::Name& other, MnemeParser::NameContext* context) {
  syntax::Name name = read_name(context);
  name.text = beside(other.text, name.text);
  return name;
}

syntax::Name moved_name(const syntax::Name& object, MnemeParser::NameContext* schema) {
  return {qualified_name(read_name(schema).text, bare_name(object.text)), location(schema)};
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

syntax::Name read_bare_label(MnemeParser::NameContext* context) {
  constexpr std::string_view kAfterAsAlone[] = {"char",    "character", "day",    "filter", "hour",
                                                "minute",  "month",     "over",   "second", "within",
                                                "without", "year",      "varying"};
  syntax::Name name = read_name(context);
  if (std::ranges::find(kAfterAsAlone, name.text) != std::end(kAfterAsAlone))
    refuse(name.where, "syntax error at or near \"{}\": as a column's name it stands behind AS",
           context->getText());
  return name;
}

syntax::Name read_column_label(antlr4::ParserRuleContext* context) {
  std::string text = read_written_name(context->getText());
  check_text(text, location(context));
  return {std::move(text), location(context)};
}

std::string read_string(antlr4::tree::TerminalNode* literal) {
  const std::string quoted = literal->getText();
  std::string text;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    text.push_back(quoted[i]);
    if (quoted[i] == '\'') ++i;
  }
  check_text(text, location(literal->getSymbol()));
  return text;
}

syntax::TypeName read_type(MnemeParser::TypeNameContext* context) {
  syntax::TypeName type;
  type.where = location(context);
  if (auto* of_column = dynamic_cast<MnemeParser::ColumnTypeContext*>(context)) {
    std::vector<MnemeParser::NameContext*> names = of_column->name();
    const std::string kind = lowered(names.back()->getText());
    names.pop_back();
    if (kind == "rowtype" && names.size() == 2) {
      type.base = syntax::kRowType;
      type.table = read_qualified(names);
      return type;
    }
    if (kind != "type") {
      refuse(type.where, "a type after % is not understood; write table.column%TYPE");
    }
    type.column = read_name(names.back());
    names.pop_back();
    type.table = read_qualified(names);
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
    type.base = base->TIMESTAMP() ? "timestamp" : read_written_name(base->name().back()->getText());
    const std::string schema =
        base->name().size() == 2 ? read_written_name(base->name(0)->getText()) : std::string("pg_catalog");
    type.is_own = schema != "pg_catalog";
    if (type.is_own) type.base = qualified_name(schema, type.base);
  }
  if (base->ZONE() && type.base != "timestamp" && type.base != "time") {
    refuse(type.where, "{} TIME ZONE belongs to the types timestamp and time alone, not to {}",
           base->WITH() ? "WITH" : "WITHOUT", type.base);
  }
  if (base->WITH()) type.base += "tz";
  if (auto* modifiers = base->modifiers()) {
    type.modifiers = read_modifiers(modifiers);
  }
  type.is_array = plain->LBRACKET() != nullptr || plain->ARRAY() != nullptr;
  return type;
}

}  // namespace mneme
