#include "procedures/interpreter/call_text.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/utf8.h"
#include "engine/schema/text_form.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/values/array_text.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

using Text = fmt::memory_buffer;

void append(Text& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

std::string_view view(const Text& text) {
  return {text.data(), text.size()};
}

void print_element(const Type& type, const Value& element, Text& out) {
  if (element.is_null()) return append(out, "NULL");
  Text text;
  print_value(type, element, text);
  append_array_element(view(text), out);
}

void print_array(const Type& type, std::span<const Value> elements, Text& out) {
  out.push_back('{');
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) out.push_back(',');
    print_element(type.element(), elements[i], out);
  }
  out.push_back('}');
}

constexpr std::string_view kCallBlanks = " \t\n\v\f\r";

bool parse_scalar(const Type& type, std::string_view text, Arena& arena, Value& value, SqlError& error) {
  Type own = without_modifiers(type);
  text.remove_prefix(std::min(type.is_number() ? text.find_first_not_of(kCallBlanks) : 0, text.size()));
  if (type.kind == TypeKind::kNumeric) {
    text = text.substr(0, text.find_last_not_of(kCallBlanks) + 1);
    own.scale = std::max(type.scale, digits_after_point(text));
  }
  if (!parse_value(own, text, arena, value, error)) return false;
  const std::string fault = fit_argument(own, type, value);
  if (fault.empty()) return true;
  return fail(error, arena, unfit_argument_state(type), "the argument {}", fault);
}

bool parse_array(const Type& type, std::string_view text, Arena& arena, Argument& argument, SqlError& error) {
  const std::optional<ArrayElements> written = array_elements(text);
  if (!written) {
    return fail(error, arena, sqlstate::kInvalidText,
                "malformed array literal: \"{}\"; an array is written as {{1,2,3}}", text);
  }
  const std::span<Value> kept = arena.make_array<Value>(written->size());
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!(*written)[i]) continue;
    if (!parse_scalar(type.element(), *(*written)[i], arena, kept[i], error)) return false;
  }
  argument = Argument::of_array(kept);
  return true;
}

}  // namespace

std::optional<std::string> print_argument(const Type& type, const Argument& argument) {
  Text text;
  if (type.is_array) {
    if (argument.null_array) return std::nullopt;
    print_array(type, argument.array, text);
  } else {
    if (argument.scalar.is_null()) return std::nullopt;
    print_value(type, argument.scalar, text);
  }
  return std::string(view(text));
}

std::string fit_argument(const Type& own, const Type& parameter, Value& value) {
  if (value.is_null()) return {};
  bool fits = true;
  Value fitted = value;
  if (parameter.kind == TypeKind::kNumeric) {
    int128 number = value.as_numeric();
    const unsigned dropped = own.scale > parameter.scale ? own.scale - parameter.scale : 0;
    fits = number % power_of_ten(dropped) == 0 && rescale(number, own.scale, parameter.scale, number) &&
           fits_numeric(parameter, number);
    fitted = Value::of_numeric(number);
  } else if (parameter.is_string()) {
    fits = parameter.length == 0 || count_characters(value.as_text()) <= parameter.length;
  }
  if (!fits) {
    Text text;
    print_value(own, value, text);
    return fmt::format(
        "is {}, which a {} would change: PostgreSQL ignores a parameter's modifiers, so declare it wide "
        "enough",
        view(text), to_string(parameter));
  }
  value = fitted;
  return {};
}

const char* unfit_argument_state(const Type& parameter) {
  return parameter.is_string() ? sqlstate::kStringTooLong : sqlstate::kOutOfRange;
}

bool parse_argument(const Type& type, std::string_view text, Arena& arena, Argument& argument,
                    SqlError& error) {
  if (type.is_array) return parse_array(type, text, arena, argument, error);
  Value value;
  if (!parse_scalar(type, text, arena, value, error)) return false;
  argument = Argument::of(value);
  return true;
}

Result<Argument> parse_argument(const Type& type, std::string_view text, Arena& arena) {
  Argument argument;
  SqlError error;
  if (!parse_argument(type, text, arena, argument, error)) return invalid_argument("{}", error.message);
  return argument;
}

std::string sql_literal(const Type& type, const Argument& argument) {
  const std::optional<std::string> text = print_argument(type, argument);
  if (!text) return "NULL::" + to_string(type);
  std::string literal = "'";
  for (char c : *text) {
    if (c == '\'') literal.push_back('\'');
    literal.push_back(c);
  }
  return literal + "'::" + to_string(type);
}

std::string print_call(const Program& program, const Call& call) {
  const ir::Procedure& procedure = program.procedure(call.procedure);
  std::string text = "CALL " + procedure.name + "(";
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    if (i > 0) text += ", ";
    text += sql_literal(argument_type(procedure, i), call.arguments[i]);
  }
  text += ")";
  if (procedure.call_time.valid()) {
    text += " /* at " +
            sql_literal(argument_type(procedure, procedure.parameters.size()), call.arguments.back()) + " */";
  }
  return text;
}

}  // namespace mneme
