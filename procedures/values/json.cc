#include "procedures/values/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/ascii.h"
#include "base/utf8.h"

namespace mneme {

namespace {

constexpr const char* kUntranslatable = "22P05";
constexpr const char* kTooDeep = "54001";
// PostgreSQL's numeric holds some more digits; no value here has room for them.
constexpr int kMostWrittenDigits = 32768;

enum class Token : uint8_t { kValue, kString, kOpen, kClose, kOpenArray, kCloseArray, kComma, kColon, kEnd };

bool is_json_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_word_character(char c) {
  const char lower = ascii_lower(c);
  return (lower >= 'a' && lower <= 'z') || is_ascii_digit(c) || c == '_' || (c & '\x80') != 0;
}

// Writes a number out as PostgreSQL's numeric does: 1.50e1 is 15.0. Nothing: it has too many digits.
std::optional<std::string> written_out(std::string_view number) {
  const bool is_negative = number.starts_with('-');
  if (is_negative) number.remove_prefix(1);
  const size_t mark = number.find_first_of("eE");
  int exponent = 0;
  if (mark != number.npos) {
    bool is_lower = false;
    for (const char c : number.substr(mark + 1)) {
      if (c == '-') is_lower = true;
      if (!is_ascii_digit(c)) continue;
      exponent = exponent * 10 + (c - '0');
      if (exponent > kMostWrittenDigits) return std::nullopt;
    }
    if (is_lower) exponent = -exponent;
    number = number.substr(0, mark);
  }
  const size_t point = number.find('.');
  std::string digits(number.substr(0, point));
  int after = 0;
  if (point != number.npos) {
    digits += number.substr(point + 1);
    after = static_cast<int>(number.size() - point - 1);
  }
  after -= exponent;
  if (after < 0) {
    digits.append(static_cast<size_t>(-after), '0');
    after = 0;
  }
  if (digits.size() <= static_cast<size_t>(after))
    digits.insert(0, static_cast<size_t>(after) + 1 - digits.size(), '0');
  std::string whole = digits.substr(0, digits.size() - static_cast<size_t>(after));
  whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size() - 1));
  const std::string fraction = digits.substr(digits.size() - static_cast<size_t>(after));
  if (whole.size() + fraction.size() > kMostWrittenDigits) return std::nullopt;
  const bool is_zero = (whole + fraction).find_first_not_of('0') == std::string::npos;
  return (is_negative && !is_zero ? "-" : "") + whole + (after > 0 ? "." + fraction : "");
}

class JsonReader {
 public:
  JsonReader(std::string_view text, bool is_binary, Arena& arena, SqlError& error)
      : text_(text), is_binary_(is_binary), arena_(arena), error_(error) {}

  bool read(Json& json) {
    if (!next() || !read_value(json, 0)) return false;
    return token_ == Token::kEnd || refuse_token("Expected end of input, but found \"{}\".");
  }

 private:
  bool refuse(std::string detail) {
    (void)fail(error_, arena_, sqlstate::kInvalidText, "invalid input syntax for type json");
    error_.detail = arena_.copy(detail);
    return false;
  }
  bool refuse_token(const char* detail) {
    if (token_ == Token::kEnd) return refuse("The input string ended unexpectedly.");
    return refuse(fmt::format(fmt::runtime(detail), text_.substr(begin_, end_ - begin_)));
  }
  bool refuse_word(size_t end) {
    return refuse(fmt::format("Token \"{}\" is invalid.", text_.substr(begin_, end - begin_)));
  }

  // Goes on to the next token, which lies from begin_ to end_.
  bool next() {
    begin_ = end_;
    while (begin_ < text_.size() && is_json_blank(text_[begin_])) ++begin_;
    last_end_ = end_;
    end_ = begin_ + 1;
    if (begin_ == text_.size()) {
      end_ = begin_;
      token_ = Token::kEnd;
      return true;
    }
    constexpr std::string_view kMarks = "{}[],:";
    constexpr Token kTokens[] = {Token::kOpen,       Token::kClose, Token::kOpenArray,
                                 Token::kCloseArray, Token::kComma, Token::kColon};
    const char c = text_[begin_];
    if (const size_t mark = kMarks.find(c); mark != kMarks.npos) {
      token_ = kTokens[mark];
      return true;
    }
    if (c == '"') return next_string();
    token_ = Token::kValue;
    if (c == '-' || is_ascii_digit(c)) return next_number();
    while (end_ < text_.size() && is_word_character(text_[end_]) && is_word_character(c)) ++end_;
    const std::string_view word = text_.substr(begin_, end_ - begin_);
    return word == "true" || word == "false" || word == "null" || refuse_word(end_);
  }

  bool next_number() {
    size_t at = begin_ + (text_[begin_] == '-' ? 1 : 0);
    const auto digits = [&] {
      const size_t begin = at;
      while (at < text_.size() && is_ascii_digit(text_[at])) ++at;
      return at > begin;
    };
    bool is_number = at < text_.size();
    if (is_number && text_[at] == '0') {
      ++at;
    } else {
      is_number = digits();
    }
    if (is_number && at < text_.size() && text_[at] == '.') {
      ++at;
      is_number = digits();
    }
    if (is_number && at < text_.size() && ascii_lower(text_[at]) == 'e') {
      ++at;
      if (at < text_.size() && (text_[at] == '+' || text_[at] == '-')) ++at;
      is_number = digits();
    }
    while (at < text_.size() && is_word_character(text_[at])) {
      is_number = false;
      ++at;
    }
    end_ = at;
    return is_number || refuse_word(at);
  }

  bool next_string() {
    token_ = Token::kString;
    string_.clear();
    for (;;) {
      if (end_ >= text_.size()) return refuse_word(text_.size());
      const char c = text_[end_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20)
        return refuse(fmt::format("Character with value 0x{:02x} must be escaped.", static_cast<int>(c)));
      if (c != '\\') {
        string_.push_back(c);
      } else if (!read_escape()) {
        return false;
      }
    }
  }

  bool read_escape() {
    if (end_ >= text_.size()) return refuse_word(text_.size());
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    const char c = text_[end_++];
    if (const size_t place = kEscapes.find(c); place != kEscapes.npos) {
      string_.push_back(kMeant[place]);
      return true;
    }
    if (c != 'u') {
      const size_t begin = end_ - 1;
      return refuse(fmt::format("Escape sequence \"\\{}\" is invalid.", text_.substr(begin, utf8_bytes(c))));
    }
    uint32_t code = 0;
    if (!read_code(code)) return false;
    if (code == 0) {
      if (!is_binary_) return true;  // a json is not decoded
      (void)fail(error_, arena_, kUntranslatable, "unsupported Unicode escape sequence");
      error_.detail = "\\u0000 cannot be converted to text.";
      return false;
    }
    if (code >= 0xdc00 && code < 0xe000) return refuse("Unicode low surrogate must follow a high surrogate.");
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (text_.substr(end_, 2) != "\\u")
        return refuse("Unicode low surrogate must follow a high surrogate.");
      end_ += 2;
      if (!read_code(low)) return false;
      if (low >= 0xd800 && low < 0xdc00)
        return refuse("Unicode high surrogate must not follow a high surrogate.");
      if (low < 0xdc00 || low >= 0xe000) return refuse("Unicode low surrogate must follow a high surrogate.");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    return append_character(code, string_) || refuse("Unicode escape value could not be translated.");
  }
  bool read_code(uint32_t& code) {
    for (int i = 0; i < 4; ++i) {
      if (end_ >= text_.size()) return refuse_word(text_.size());
      const char digit = ascii_lower(text_[end_++]);
      if (!is_ascii_digit(digit) && (digit < 'a' || digit > 'f'))
        return refuse("\"\\u\" must be followed by four hexadecimal digits.");
      code = code * 16 + static_cast<uint32_t>(is_ascii_digit(digit) ? digit - '0' : digit - 'a' + 10);
    }
    return true;
  }

  bool read_value(Json& json, size_t level) {
    if (level > kMostJsonLevels) {
      return fail(error_, arena_, kTooDeep, "a json value may not nest more than {} levels deep",
                  kMostJsonLevels);
    }
    const size_t begin = begin_;
    switch (token_) {
      case Token::kString:
        json.kind = Json::Kind::kString;
        json.text = std::move(string_);
        string_ = {};
        break;
      case Token::kValue:
        if (!set_scalar(json)) return false;
        break;
      case Token::kOpen:
        if (!read_object(json, level)) return false;
        break;
      case Token::kOpenArray:
        if (!read_array(json, level)) return false;
        break;
      default:
        return refuse_token("Expected JSON value, but found \"{}\".");
    }
    if (!next()) return false;
    json.raw = text_.substr(begin, last_end_ - begin);
    return true;
  }

  bool set_scalar(Json& json) {
    const std::string_view word = text_.substr(begin_, end_ - begin_);
    json.text = word;
    if (word == "null") {
      json.kind = Json::Kind::kNull;
    } else if (word == "true" || word == "false") {
      json.kind = Json::Kind::kBoolean;
    } else {
      json.kind = Json::Kind::kNumber;
      if (!is_binary_) return true;
      std::optional<std::string> number = written_out(word);
      if (!number) return fail(error_, arena_, sqlstate::kOutOfRange, "value overflows numeric format");
      json.text = *std::move(number);
    }
    return true;
  }

  // These end at the closing mark.
  bool read_object(Json& json, size_t level) {
    json.kind = Json::Kind::kObject;
    if (!next()) return false;
    if (token_ == Token::kClose) return true;
    if (token_ != Token::kString) return refuse_token("Expected string or \"}}\", but found \"{}\".");
    for (;;) {
      if (token_ != Token::kString) return refuse_token("Expected string, but found \"{}\".");
      json.keys.push_back(std::move(string_));
      string_ = {};
      if (!next()) return false;
      if (token_ != Token::kColon) return refuse_token("Expected \":\", but found \"{}\".");
      if (!next() || !read_value(json.parts.emplace_back(), level + 1)) return false;
      if (token_ != Token::kComma) break;
      if (!next()) return false;
    }
    if (token_ != Token::kClose) return refuse_token("Expected \",\" or \"}}\", but found \"{}\".");
    if (is_binary_) sort_keys(json);
    return true;
  }
  bool read_array(Json& json, size_t level) {
    json.kind = Json::Kind::kArray;
    if (!next()) return false;
    if (token_ == Token::kCloseArray) return true;
    for (;;) {
      if (!read_value(json.parts.emplace_back(), level + 1)) return false;
      if (token_ != Token::kComma) break;
      if (!next()) return false;
    }
    return token_ == Token::kCloseArray || refuse_token("Expected \",\" or \"]\", but found \"{}\".");
  }

  const std::string_view text_;
  const bool is_binary_;
  Arena& arena_;
  SqlError& error_;
  Token token_ = Token::kEnd;
  std::string string_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t last_end_ = 0;  // of the token before
};

bool is_before(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

void print_into(const Json& json, std::string& to) {
  switch (json.kind) {
    case Json::Kind::kString:
      to += quoted_json(json.text);
      return;
    case Json::Kind::kArray:
    case Json::Kind::kObject:
      break;
    default:
      to += json.kind == Json::Kind::kNull ? "null" : json.text;
      return;
  }
  const bool is_object = json.kind == Json::Kind::kObject;
  to += is_object ? '{' : '[';
  for (size_t i = 0; i < json.parts.size(); ++i) {
    if (i > 0) to += ", ";
    if (is_object) to += quoted_json(json.keys[i]) + ": ";
    print_into(json.parts[i], to);
  }
  to += is_object ? '}' : ']';
}

// The sign, the number of digits before the point (or minus that of zeros behind it), and the digits.
void put_number_key(std::string_view number, std::string& to) {
  const bool is_negative = number.starts_with('-');
  if (is_negative) number.remove_prefix(1);
  const size_t point = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, point));
  int magnitude = static_cast<int>(point);
  if (point < number.size()) digits += number.substr(point + 1);
  const size_t zeros = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, zeros);
  magnitude -= static_cast<int>(zeros);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.empty()) {
    to += '\x02';
    return;
  }
  const auto shifted = static_cast<uint32_t>(magnitude + (1 << 20));
  std::string key;
  for (int shift = 16; shift >= 0; shift -= 8) key += static_cast<char>(shifted >> shift);
  key += digits;
  key += '\x01';  // below all digits
  if (is_negative) {
    for (char& c : key) c = static_cast<char>(~c);
  }
  to += is_negative ? '\x01' : '\x03';
  to += key;
}

// Bytes 0 and 1 are told from the end.
void put_text_key(std::string_view text, std::string& to) {
  for (const char c : text) {
    if (c == '\x01' || c == '\0') to += '\x01';
    to += c == '\0' ? '\x01' : c == '\x01' ? '\x02' : c;
  }
  to += '\0';
}

void put_count_key(size_t count, std::string& to) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(count >> shift);
}

// From the lowest kind up: null, strings, numbers, booleans, arrays, objects. An empty array
// alone is below all.
void put_key(const Json& json, bool is_whole, std::string& to) {
  if (is_whole && json.kind == Json::Kind::kArray && json.parts.empty()) {
    to += '\0';
    return;
  }
  to += static_cast<char>(1 + static_cast<int>(json.kind));
  switch (json.kind) {
    case Json::Kind::kNull:
      return;
    case Json::Kind::kString:
      return put_text_key(json.text, to);
    case Json::Kind::kNumber:
      return put_number_key(json.text, to);
    case Json::Kind::kBoolean:
      to += json.text == "true" ? '\1' : '\0';
      return;
    case Json::Kind::kArray:
    case Json::Kind::kObject:
      put_count_key(json.parts.size(), to);
      for (size_t i = 0; i < json.parts.size(); ++i) {
        if (json.kind == Json::Kind::kObject) put_text_key(json.keys[i], to);
        put_key(json.parts[i], false, to);
      }
  }
}

bool is_same_scalar(const Json& a, const Json& b) {
  return a.kind == b.kind && json_key(a) == json_key(b);
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  if (kind != Kind::kObject) return nullptr;
  for (size_t i = keys.size(); i > 0; --i) {
    if (keys[i - 1] == key) return &parts[i - 1];
  }
  return nullptr;
}

const Json* Json::at(int64_t number) const {
  if (kind != Kind::kArray) return nullptr;
  const auto count = static_cast<int64_t>(parts.size());
  if (number < 0) number += count;
  return number < 0 || number >= count ? nullptr : &parts[static_cast<size_t>(number)];
}

bool read_json(std::string_view text, bool is_binary, Arena& arena, Json& json, SqlError& error) {
  return JsonReader(text, is_binary, arena, error).read(json);
}

void sort_keys(Json& object) {
  std::vector<size_t> order(object.keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return is_before(object.keys[a], object.keys[b]); });
  Json sorted;
  for (size_t i = 0; i < order.size(); ++i) {
    std::string& key = object.keys[order[i]];
    if (i + 1 < order.size() && key == object.keys[order[i + 1]]) continue;
    sorted.keys.push_back(std::move(key));
    sorted.parts.push_back(std::move(object.parts[order[i]]));
  }
  object.keys = std::move(sorted.keys);
  object.parts = std::move(sorted.parts);
}

std::string print_json(const Json& json) {
  std::string text;
  print_into(json, text);
  return text;
}

std::string quoted_json(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\b':
        quoted += "\\b";
        break;
      case '\f':
        quoted += "\\f";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

bool contains_json(const Json& whole, const Json& part) {
  if (whole.kind == Json::Kind::kObject && part.kind == Json::Kind::kObject) {
    for (size_t i = 0; i < part.keys.size(); ++i) {
      const Json* const own = whole.find(part.keys[i]);
      if (own == nullptr || own->is_scalar() != part.parts[i].is_scalar()) return false;
      if (!contains_json(*own, part.parts[i])) return false;
    }
    return true;
  }
  if (whole.kind == Json::Kind::kArray && part.kind == Json::Kind::kArray) {
    return std::ranges::all_of(part.parts, [&](const Json& wanted) {
      return std::ranges::any_of(whole.parts, [&](const Json& own) {
        return own.is_scalar() == wanted.is_scalar() && contains_json(own, wanted);
      });
    });
  }
  return part.is_scalar() && whole.is_scalar() && is_same_scalar(whole, part);
}

std::string json_key(const Json& json) {
  std::string key;
  put_key(json, true, key);
  return key;
}

}  // namespace mneme
