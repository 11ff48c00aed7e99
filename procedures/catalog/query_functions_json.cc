// Query functions of json and jsonb. A jsonb is the text that it prints (engine/schema/text_form.h).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/function_ref.h"
#include "engine/schema/text_form.h"
#include "procedures/catalog/query_functions.h"
#include "procedures/values/json.h"
#include "procedures/values/text_forms.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

bool give_json(const Json* json, Arena& arena, Value& result) {
  if (json == nullptr) return true;
  return give_text(json->raw, arena, result);
}

// As ->> gives it: a string without quotes, NULL for a null.
bool give_text_of_json(const Json* json, Arena& arena, Value& result) {
  if (json == nullptr || json->kind == Json::Kind::kNull) return true;
  return give_text(json->kind == Json::Kind::kString ? std::string_view(json->text) : json->raw, arena,
                   result);
}

// What is stored was read before. Its strings are decoded as they are.
bool read_stored(const Value& value, Arena& arena, Json& json, SqlError& error) {
  return read_json(value.as_text(), false, arena, json, error);
}

std::optional<int64_t> number_in(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

const Json* step_into(const Json* json, std::string_view step) {
  if (json == nullptr) return nullptr;
  if (json->kind == Json::Kind::kObject) return json->find(step);
  const std::optional<int64_t> number = number_in(step);
  return number ? json->at(*number) : nullptr;
}

enum class Gives : uint8_t { kJson, kText };

bool give(Gives what, const Json* json, Arena& arena, Value& result) {
  return what == Gives::kJson ? give_json(json, arena, result) : give_text_of_json(json, arena, result);
}

template <Gives what>
bool member(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  return give(what, json.find(arguments[1].as_text()), arena, result);
}

// A jsonb that is a scalar is kept as an array of it.
template <Gives what, bool is_binary>
bool element(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  const int64_t number = arguments[1].as_int();
  const bool is_whole = is_binary && json.is_scalar() && (number == 0 || number == -1);
  return give(what, is_whole ? &json : json.at(number), arena, result);
}

// The text of a jsonb that is cast to a number, or to a boolean, whose name is the second argument.
bool scalar_to_cast(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  const std::string_view target = arguments[1].as_text();
  const Json::Kind wanted = target == "boolean" ? Json::Kind::kBoolean : Json::Kind::kNumber;
  if (json.kind == wanted) return give_text(json.raw, arena, result);
  constexpr const char* kNames[] = {"null", "string", "numeric", "boolean", "array", "object"};
  return fail(error, arena, sqlstate::kInvalidParameter, "cannot cast jsonb {} to type {}",
              kNames[static_cast<size_t>(json.kind)], target);
}

template <Gives what>
bool step(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  return give(what, step_into(&json, arguments[1].as_text()), arena, result);
}

bool read_steps(const Value& list, Arena& arena, ArrayElements& steps, SqlError& error) {
  std::optional<ArrayElements> read = array_or_vector_elements(list.as_text());
  if (!read) {
    return fail(error, arena, sqlstate::kInvalidText, "malformed array literal: \"{}\"", list.as_text());
  }
  steps = *std::move(read);
  return true;
}

template <Gives what>
bool path(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  ArrayElements steps;
  if (!read_stored(arguments[0], arena, json, error) || !read_steps(arguments[1], arena, steps, error))
    return false;
  const Json* at = &json;
  for (const std::optional<std::string>& each : steps) at = each ? step_into(at, *each) : nullptr;
  return give(what, at, arena, result);
}

bool contains(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json whole;
  Json part;
  if (!read_stored(arguments[0], arena, whole, error) || !read_stored(arguments[1], arena, part, error))
    return false;
  // An array contains a scalar that is one of its elements.
  bool is_in = false;
  if (whole.kind == Json::Kind::kArray && part.is_scalar()) {
    is_in = std::ranges::any_of(whole.parts,
                                [&](const Json& own) { return own.is_scalar() && contains_json(own, part); });
  } else {
    is_in = contains_json(whole, part);
  }
  result = Value::of_bool(is_in);
  return true;
}

bool has_name(const Json& json, std::string_view name) {
  const auto is_it = [&](const Json& each) { return each.kind == Json::Kind::kString && each.text == name; };
  if (json.kind == Json::Kind::kArray) return std::ranges::any_of(json.parts, is_it);
  return json.kind == Json::Kind::kObject ? json.find(name) != nullptr : is_it(json);
}

bool has(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  result = Value::of_bool(has_name(json, arguments[1].as_text()));
  return true;
}

template <bool all>
bool has_names(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  ArrayElements names;
  if (!read_stored(arguments[0], arena, json, error) || !read_steps(arguments[1], arena, names, error))
    return false;
  const auto is_there = [&](const std::optional<std::string>& name) { return name && has_name(json, *name); };
  std::erase(names, std::nullopt);
  result = Value::of_bool(all ? std::ranges::all_of(names, is_there) : std::ranges::any_of(names, is_there));
  return true;
}

bool give_printed(Json& json, Arena& arena, Value& result) {
  if (json.kind == Json::Kind::kObject) sort_keys(json);
  return give_text(print_json(json), arena, result);
}

Json as_array(Json json) {
  if (json.kind == Json::Kind::kArray) return json;
  Json array;
  array.kind = Json::Kind::kArray;
  array.parts.push_back(std::move(json));
  return array;
}

bool concat(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json left;
  Json right;
  if (!read_stored(arguments[0], arena, left, error) || !read_stored(arguments[1], arena, right, error))
    return false;
  const bool are_objects = left.kind == Json::Kind::kObject && right.kind == Json::Kind::kObject;
  if (!are_objects) {
    left = as_array(std::move(left));
    right = as_array(std::move(right));
  }
  std::ranges::move(right.keys, std::back_inserter(left.keys));
  std::ranges::move(right.parts, std::back_inserter(left.parts));
  return give_printed(left, arena, result);
}

void erase_names(Json& json, FunctionRef<bool(std::string_view)> is_erased) {
  Json kept;
  kept.kind = json.kind;
  for (size_t i = 0; i < json.parts.size(); ++i) {
    const bool is_object = json.kind == Json::Kind::kObject;
    const bool is_named = is_object || json.parts[i].kind == Json::Kind::kString;
    if (is_named && is_erased(is_object ? json.keys[i] : json.parts[i].text)) continue;
    if (is_object) kept.keys.push_back(std::move(json.keys[i]));
    kept.parts.push_back(std::move(json.parts[i]));
  }
  json = std::move(kept);
}

bool refuse_scalar(const char* what, Arena& arena, SqlError& error) {
  return fail(error, arena, sqlstate::kInvalidParameter, "cannot {} scalar", what);
}

bool erase(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  if (json.is_scalar()) return refuse_scalar("delete from", arena, error);
  erase_names(json, [&](std::string_view name) { return name == arguments[1].as_text(); });
  return give_printed(json, arena, result);
}

bool erase_all(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  ArrayElements names;
  if (!read_stored(arguments[0], arena, json, error) || !read_steps(arguments[1], arena, names, error))
    return false;
  if (json.is_scalar()) return refuse_scalar("delete from", arena, error);
  erase_names(json, [&](std::string_view name) {
    return std::ranges::any_of(names, [&](const auto& each) { return each && *each == name; });
  });
  return give_printed(json, arena, result);
}

bool erase_at(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  if (json.is_scalar()) return refuse_scalar("delete from", arena, error);
  if (json.kind == Json::Kind::kObject)
    return fail(error, arena, sqlstate::kInvalidParameter, "cannot delete from object using integer index");
  if (const Json* found = json.at(arguments[1].as_int()))
    json.parts.erase(json.parts.begin() + (found - json.parts.data()));
  return give_printed(json, arena, result);
}

// What is done at a path's end.
enum class PathEdit : uint8_t { kSet, kInsert, kErase };

struct PathChange {
  PathEdit edit = PathEdit::kSet;
  const ArrayElements& steps;
  Json value;
  bool creates = true;  // jsonb_set(): what is not there; jsonb_insert(): behind the element
};

bool edit_path(Json& json, size_t level, PathChange& change, Arena& arena, SqlError& error) {
  const std::string& step = *change.steps[level];
  const bool is_last = level + 1 == change.steps.size();
  const auto value = [&] { return change.value; };
  if (json.kind == Json::Kind::kObject) {
    const Json* const found = json.find(step);
    const auto place = found == nullptr ? json.parts.size() : static_cast<size_t>(found - json.parts.data());
    if (!is_last)
      return found == nullptr || json.parts[place].is_scalar() ||
             edit_path(json.parts[place], level + 1, change, arena, error);
    if (change.edit == PathEdit::kErase) {
      if (found == nullptr) return true;
      json.parts.erase(json.parts.begin() + static_cast<ptrdiff_t>(place));
      json.keys.erase(json.keys.begin() + static_cast<ptrdiff_t>(place));
    } else if (found == nullptr) {
      if (change.edit == PathEdit::kSet && !change.creates) return true;
      json.keys.push_back(step);
      json.parts.push_back(value());
      sort_keys(json);
    } else if (change.edit == PathEdit::kInsert) {
      (void)fail(error, arena, sqlstate::kInvalidParameter, "cannot replace existing key");
      error.hint = "Try using the function jsonb_set to replace key value.";
      return false;
    } else {
      json.parts[place] = value();
    }
    return true;
  }
  if (json.is_scalar()) return true;
  const std::optional<int64_t> number = number_in(step);
  if (!number) {
    return fail(error, arena, sqlstate::kInvalidText, "path element at position {} is not an integer: \"{}\"",
                level + 1, step);
  }
  const auto count = static_cast<int64_t>(json.parts.size());
  const Json* const found = json.at(*number);
  if (!is_last)
    return found == nullptr || found->is_scalar() ||
           edit_path(json.parts[static_cast<size_t>(found - json.parts.data())], level + 1, change, arena,
                     error);
  if (change.edit == PathEdit::kErase) {
    if (found != nullptr) json.parts.erase(json.parts.begin() + (found - json.parts.data()));
    return true;
  }
  if (change.edit == PathEdit::kSet && found != nullptr) {
    json.parts[static_cast<size_t>(found - json.parts.data())] = value();
    return true;
  }
  if (change.edit == PathEdit::kSet && !change.creates) return true;
  int64_t place = *number < 0 ? std::max<int64_t>(*number + count, 0) : std::min(*number, count);
  const bool is_behind = change.edit == PathEdit::kInsert && change.creates && found != nullptr;
  if (is_behind) ++place;
  json.parts.insert(json.parts.begin() + place, value());
  return true;
}

bool change_path(QueryArguments arguments, PathEdit edit, Arena& arena, Value& result, SqlError& error) {
  Json json;
  ArrayElements steps;
  if (!read_stored(arguments[0], arena, json, error) || !read_steps(arguments[1], arena, steps, error))
    return false;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i])
      return fail(error, arena, sqlstate::kNullNotAllowed, "path element at position {} is null", i + 1);
  }
  PathChange change{edit, steps, {}, edit == PathEdit::kSet};
  if (edit != PathEdit::kErase && !read_stored(arguments[2], arena, change.value, error)) return false;
  if (arguments.size() > 3) change.creates = arguments[3].as_bool();
  if (json.is_scalar())
    return refuse_scalar(edit == PathEdit::kErase ? "delete path in" : "set path in", arena, error);
  if (!steps.empty() && !edit_path(json, 0, change, arena, error)) return false;
  return give_printed(json, arena, result);
}

bool set_path(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return change_path(arguments, PathEdit::kSet, arena, result, error);
}
bool insert_path(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return change_path(arguments, PathEdit::kInsert, arena, result, error);
}
bool erase_path(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  return change_path(arguments, PathEdit::kErase, arena, result, error);
}

bool length_of_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  if (json.kind != Json::Kind::kArray) {
    return fail(error, arena, sqlstate::kInvalidParameter, "cannot get array length of a {}",
                json.is_scalar() ? "scalar" : "non-array");
  }
  result = Value::of_int(static_cast<int64_t>(json.parts.size()));
  return true;
}

bool type_of_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  constexpr const char* kNames[] = {"null", "string", "number", "boolean", "array", "object"};
  return give_text(kNames[static_cast<size_t>(json.kind)], arena, result);
}

void strip_nulls(Json& json) {
  if (json.kind == Json::Kind::kObject) {
    Json kept;
    kept.kind = json.kind;
    for (size_t i = 0; i < json.parts.size(); ++i) {
      if (json.parts[i].kind == Json::Kind::kNull) continue;
      kept.keys.push_back(std::move(json.keys[i]));
      kept.parts.push_back(std::move(json.parts[i]));
    }
    json = std::move(kept);
  }
  for (Json& part : json.parts) strip_nulls(part);
}

bool strip_jsonb(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  strip_nulls(json);
  return give_text(print_json(json), arena, result);
}

// A json is written without blanks then.
void print_tight(const Json& json, std::string& to) {
  if (json.kind == Json::Kind::kString) {
    to += quoted_json(json.text);
  } else if (json.is_scalar()) {
    to += json.kind == Json::Kind::kNull ? "null" : json.text;
  } else {
    const bool is_object = json.kind == Json::Kind::kObject;
    to += is_object ? '{' : '[';
    for (size_t i = 0; i < json.parts.size(); ++i) {
      if (i > 0) to += ',';
      if (is_object) to += quoted_json(json.keys[i]) + ':';
      print_tight(json.parts[i], to);
    }
    to += is_object ? '}' : ']';
  }
}

bool strip_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  strip_nulls(json);
  std::string text;
  print_tight(json, text);
  return give_text(text, arena, result);
}

void print_pretty(const Json& json, size_t level, std::string& to) {
  if (json.is_scalar()) {
    to += print_json(json);
    return;
  }
  const bool is_object = json.kind == Json::Kind::kObject;
  to += is_object ? '{' : '[';
  for (size_t i = 0; i < json.parts.size(); ++i) {
    to += i > 0 ? ",\n" : "\n";
    to.append((level + 1) * 4, ' ');
    if (is_object) to += quoted_json(json.keys[i]) + ": ";
    print_pretty(json.parts[i], level + 1, to);
  }
  to += '\n';
  to.append(level * 4, ' ');
  to += is_object ? '}' : ']';
}

bool pretty(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  std::string text;
  print_pretty(json, 0, text);
  return give_text(text, arena, result);
}

bool key_of_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  return read_stored(arguments[0], arena, json, error) && give_text(json_key(json), arena, result);
}

// ---- lists of the parts of a json ----

bool give_list(const Json& json, FunctionRef<std::optional<std::string>(size_t)> text_of, Arena& arena,
               Value& result) {
  ArrayElements elements;
  for (size_t i = 0; i < json.parts.size(); ++i) elements.push_back(text_of(i));
  result = array_of(elements, arena);
  return true;
}

std::optional<std::string> text_of_json(const Json& json) {
  if (json.kind == Json::Kind::kNull) return std::nullopt;
  return json.kind == Json::Kind::kString ? json.text : std::string(json.raw);
}

template <Gives what>
std::optional<std::string> part_of_json(const Json& json, size_t i) {
  return what == Gives::kText ? text_of_json(json.parts[i]) : std::string(json.parts[i].raw);
}

template <Gives what>
bool list_elements(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_stored(arguments[0], arena, json, error)) return false;
  if (json.kind != Json::Kind::kArray) {
    return fail(error, arena, sqlstate::kInvalidParameter, "cannot extract elements from {}",
                json.is_scalar() ? "a scalar" : "an object");
  }
  return give_list(
      json, [&](size_t i) { return part_of_json<what>(json, i); }, arena, result);
}

bool read_object(const Value& value, Arena& arena, Json& json, SqlError& error) {
  if (!read_stored(value, arena, json, error)) return false;
  return json.kind == Json::Kind::kObject ||
         fail(error, arena, sqlstate::kInvalidParameter, "cannot take the members of {}",
              json.is_scalar() ? "a scalar" : "an array");
}

bool list_keys(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_object(arguments[0], arena, json, error)) return false;
  return give_list(
      json, [&](size_t i) { return std::optional(json.keys[i]); }, arena, result);
}

template <Gives what>
bool list_values(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  Json json;
  if (!read_object(arguments[0], arena, json, error)) return false;
  return give_list(
      json, [&](size_t i) { return part_of_json<what>(json, i); }, arena, result);
}

// ---- values in a json ----

bool unquoted_text(QueryArguments arguments, Arena&, Value& result, SqlError&) {
  result = arguments[0].is_null() ? Value::of_text("null") : arguments[0];
  return true;
}

bool quoted_text(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return unquoted_text(arguments, arena, result, error);
  return give_text(quoted_json(arguments[0].as_text()), arena, result);
}

// NaN and infinities are no numbers there.
bool of_double_in_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  const bool is_word =
      !arguments[0].is_null() && arguments[0].as_text().find_first_of("Ny") != std::string_view::npos;
  return is_word ? quoted_text(arguments, arena, result, error)
                 : unquoted_text(arguments, arena, result, error);
}

// 2024-02-29 12:30:00+00 is "2024-02-29T12:30:00+00:00".
bool time_in_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return unquoted_text(arguments, arena, result, error);
  std::string text(arguments[0].as_text());
  std::ranges::replace(text, ' ', 'T');
  if (text.ends_with("+00")) text += ":00";
  return give_text(quoted_json(text), arena, result);
}

bool name_in_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null())
    return fail(error, arena, sqlstate::kInvalidParameter, "null value not allowed for object key");
  return give_text(quoted_json(arguments[0].as_text()), arena, result);
}

bool array_in_json(QueryArguments arguments, Arena& arena, Value& result, SqlError& error) {
  if (arguments[0].is_null()) return unquoted_text(arguments, arena, result, error);
  ArrayElements elements;
  if (!read_steps(arguments[0], arena, elements, error)) return false;
  std::string text = "[";
  for (const std::optional<std::string>& each : elements) {
    if (text.size() > 1) text += ',';
    const bool is_truth = each && (*each == "t" || *each == "f");
    if (!each) {
      text += "null";
    } else if (arguments[1].as_bool()) {
      text += quoted_json(*each);
    } else {
      text += is_truth ? (*each == "t" ? "true" : "false") : *each;
    }
  }
  return give_text(text + "]", arena, result);
}

constexpr QueryFunction kFunctionsOfJson[] = {
    {"mneme_json_get", 2, 2, {types::kText, types::kText}, types::kText, member<Gives::kJson>},
    {"mneme_json_text", 2, 2, {types::kText, types::kText}, types::kText, member<Gives::kText>},
    {"mneme_json_at", 2, 2, {types::kText, types::kBigInt}, types::kText, element<Gives::kJson, false>},
    {"mneme_json_text_at", 2, 2, {types::kText, types::kBigInt}, types::kText, element<Gives::kText, false>},
    {"mneme_jsonb_at", 2, 2, {types::kText, types::kBigInt}, types::kText, element<Gives::kJson, true>},
    {"mneme_jsonb_text_at", 2, 2, {types::kText, types::kBigInt}, types::kText, element<Gives::kText, true>},
    {"mneme_jsonb_cast", 2, 2, {types::kText, types::kText}, types::kText, scalar_to_cast},
    {"mneme_json_step", 2, 2, {types::kText, types::kText}, types::kText, step<Gives::kJson>},
    {"mneme_json_step_text", 2, 2, {types::kText, types::kText}, types::kText, step<Gives::kText>},
    {"mneme_json_path", 2, 2, {types::kText, types::kTextArray}, types::kText, path<Gives::kJson>},
    {"mneme_json_path_text", 2, 2, {types::kText, types::kTextArray}, types::kText, path<Gives::kText>},
    {"mneme_json_contains", 2, 2, {types::kText, types::kText}, types::kBoolean, contains},
    {"mneme_json_has", 2, 2, {types::kText, types::kText}, types::kBoolean, has},
    {"mneme_json_has_any", 2, 2, {types::kText, types::kTextArray}, types::kBoolean, has_names<false>},
    {"mneme_json_has_all", 2, 2, {types::kText, types::kTextArray}, types::kBoolean, has_names<true>},
    {"mneme_json_concat", 2, 2, {types::kText, types::kText}, types::kText, concat},
    {"mneme_json_erase", 2, 2, {types::kText, types::kText}, types::kText, erase},
    {"mneme_json_erase_all", 2, 2, {types::kText, types::kTextArray}, types::kText, erase_all},
    {"mneme_json_erase_at", 2, 2, {types::kText, types::kBigInt}, types::kText, erase_at},
    {"mneme_json_erase_path", 2, 2, {types::kText, types::kTextArray}, types::kText, erase_path},
    {"mneme_json_key", 1, 1, {types::kText}, types::kText, key_of_json},
    {"mneme_json_elements", 1, 1, {types::kText}, types::kTextArray, list_elements<Gives::kJson>},
    {"mneme_json_element_texts", 1, 1, {types::kText}, types::kTextArray, list_elements<Gives::kText>},
    {"mneme_json_keys", 1, 1, {types::kText}, types::kTextArray, list_keys},
    {"mneme_json_values", 1, 1, {types::kText}, types::kTextArray, list_values<Gives::kJson>},
    {"mneme_json_value_texts", 1, 1, {types::kText}, types::kTextArray, list_values<Gives::kText>},
    {"jsonb_set",
     3,
     4,
     {types::kText, types::kTextArray, types::kText, types::kBoolean},
     types::kText,
     set_path},
    {"jsonb_insert",
     3,
     4,
     {types::kText, types::kTextArray, types::kText, types::kBoolean},
     types::kText,
     insert_path},
    {"json_array_length", 1, 1, {types::kText}, types::kBigInt, length_of_json},
    {"jsonb_array_length", 1, 1, {types::kText}, types::kBigInt, length_of_json},
    {"json_typeof", 1, 1, {types::kText}, types::kText, type_of_json},
    {"jsonb_typeof", 1, 1, {types::kText}, types::kText, type_of_json},
    {"json_strip_nulls", 1, 1, {types::kText}, types::kText, strip_json},
    {"jsonb_strip_nulls", 1, 1, {types::kText}, types::kText, strip_jsonb},
    {"jsonb_pretty", 1, 1, {types::kText}, types::kText, pretty},
    {"mneme_json_plain", 1, 1, {types::kText}, types::kText, unquoted_text, false},
    {"mneme_json_quoted", 1, 1, {types::kText}, types::kText, quoted_text, false},
    {"mneme_json_double", 1, 1, {types::kText}, types::kText, of_double_in_json, false},
    {"mneme_json_time", 1, 1, {types::kText}, types::kText, time_in_json, false},
    {"mneme_json_name", 1, 1, {types::kText}, types::kText, name_in_json, false},
    {"mneme_json_array", 2, 2, {types::kTextArray, types::kBoolean}, types::kText, array_in_json, false},
};

}  // namespace

std::span<const QueryFunction> json_query_functions() {
  return kFunctionsOfJson;
}

}  // namespace mneme
