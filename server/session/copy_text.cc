#include "server/session/copy_text.h"

#include "base/ascii.h"
#include "server/protocol/wire.h"

namespace mneme {

char unescaped_letter(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return letter;
  }
}

namespace {

int digit_of(char c) {
  if (is_ascii_digit(c)) return c - '0';
  const char low = ascii_lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : 99;
}

// The character of an escape like \101 or \x41; `at` stands behind the backslash, and is moved behind it.
char read_escape(std::string_view text, size_t& at) {
  const char c = text[at++];
  const int base = c == 'x' ? 16 : 8;
  const size_t most = at + 2;
  int value = c == 'x' ? -1 : digit_of(c);
  if (c != 'x' && value >= base) return unescaped_letter(c);
  for (; at < text.size() && at < most && digit_of(text[at]) < base; ++at)
    value = (value < 0 ? 0 : value) * base + digit_of(text[at]);
  return value < 0 ? 'x' : static_cast<char>(value);
}

}  // namespace

void CopyReader::add(std::string_view bytes) {
  if (at_ > 0) bytes_.erase(0, at_);
  at_ = 0;
  fields_.clear();
  bytes_.append(bytes);
}

size_t CopyReader::row_end() const {
  if (!copy_.is_csv) {
    // A backslash before the line's end makes that a part of the field.
    for (size_t from = at_;;) {
      const size_t end = bytes_.find('\n', from);
      if (end == bytes_.npos) break;
      size_t slashes = 0;
      while (end - slashes > at_ && bytes_[end - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 == 0) return end;
      from = end + 1;
    }
  } else {
    bool is_quoted = false;
    for (size_t i = at_; i < bytes_.size(); ++i) {
      const char c = bytes_[i];
      if (is_quoted && c == copy_.escape && copy_.escape != copy_.quote) {
        ++i;
      } else if (c == copy_.quote) {
        is_quoted = !is_quoted;
      } else if (c == '\n' && !is_quoted) {
        return i;
      }
    }
  }
  return is_finished_ && at_ < bytes_.size() ? bytes_.size() : bytes_.npos;
}

Result<bool> CopyReader::wait_for_more() const {
  constexpr size_t kMostRowBytes = size_t{64} << 20;
  if (bytes_.size() - at_ > kMostRowBytes)
    return invalid_argument("a row of COPY is longer than {} MiB", kMostRowBytes >> 20);
  return false;
}

Result<bool> CopyReader::next_binary() {
  ByteSpan rest = as_bytes(std::string_view(bytes_).substr(at_));
  bool is_cut = false;
  const auto take = [&](size_t count) {
    is_cut |= rest.size() < count;
    const ByteSpan taken = rest.first(is_cut ? 0 : count);
    rest = rest.subspan(taken.size());
    return taken;
  };
  const auto take_number = [&]<typename Number>(Number) {
    const ByteSpan bytes = take(sizeof(Number));
    return is_cut ? Number{0} : from_big_endian<Number>(bytes.data());
  };
  // False: the rest of it has not arrived, and never will once the client has finished.
  const auto wait = [&]() -> Result<bool> {
    if (is_finished_ && at_ < bytes_.size()) return invalid_argument("unexpected EOF in COPY data");
    return wait_for_more();
  };
  if (!has_header_) {
    const std::string_view signature = as_text(take(kBinaryHeader.size()));
    if (!is_cut && signature != kBinaryHeader) return invalid_argument("COPY file signature not recognized");
    const auto flags = take_number(uint32_t{});
    if (!is_cut && flags != 0) return invalid_argument("unrecognized critical flags in COPY file header");
    take(take_number(uint32_t{}));
    if (is_cut) return wait();
    has_header_ = true;
    at_ = bytes_.size() - rest.size();
  }
  const auto count = static_cast<int16_t>(take_number(uint16_t{}));
  if (is_cut) return wait();
  if (has_ended_) return invalid_argument("received copy data after EOF marker");
  if (count == -1) {
    has_ended_ = true;
    at_ = bytes_.size() - rest.size();
    if (!rest.empty()) return invalid_argument("received copy data after EOF marker");
    return false;
  }
  fields_.clear();
  for (int i = 0; i < count; ++i) {
    const auto length = static_cast<int32_t>(take_number(uint32_t{}));
    if (is_cut) return wait();
    if (length < -1) return invalid_argument("invalid field size");
    if (length == -1) {
      fields_.emplace_back();
    } else {
      fields_.emplace_back(as_text(take(static_cast<size_t>(length))));
    }
  }
  if (is_cut) return wait();
  ++line_;
  at_ = bytes_.size() - rest.size();
  return true;
}

Result<bool> CopyReader::next() {
  if (copy_.is_binary) return next_binary();
  for (;;) {
    if (has_ended_) return false;
    const size_t end = row_end();
    if (end == bytes_.npos) return wait_for_more();
    std::string_view row = std::string_view(bytes_).substr(at_, end - at_);
    at_ = std::min(end + 1, bytes_.size());
    ++line_;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (skips_header_) {
      skips_header_ = false;
      continue;
    }
    if (row == "\\.") {
      has_ended_ = true;
      return false;
    }
    fields_.clear();
    unescaped_.clear();
    unescaped_.reserve(row.size());
    if (const Result<void> cut = copy_.is_csv ? cut_csv(row) : cut_text(row); !cut) return cut.error();
    return true;
  }
}

Result<void> CopyReader::cut_text(std::string_view row) {
  for (size_t at = 0;;) {
    size_t end = at;
    bool has_escapes = false;
    while (end < row.size() && row[end] != copy_.delimiter) {
      if (row[end] == '\\') {
        has_escapes = true;
        ++end;
      }
      ++end;
    }
    end = std::min(end, row.size());
    const std::string_view field = row.substr(at, end - at);
    if (field == copy_.null_text) {
      fields_.emplace_back();
    } else if (!has_escapes) {
      fields_.emplace_back(field);
    } else {
      const size_t begin = unescaped_.size();
      for (size_t i = 0; i < field.size();) {
        char c = field[i++];
        if (c == '\\' && i < field.size()) c = read_escape(field, i);
        unescaped_.push_back(c);
      }
      fields_.emplace_back(std::string_view(unescaped_).substr(begin));
    }
    if (end == row.size()) return {};
    at = end + 1;
  }
}

Result<void> CopyReader::cut_csv(std::string_view row) {
  for (size_t at = 0;;) {
    const size_t begin = unescaped_.size();
    bool was_quoted = false;
    bool is_quoted = false;
    for (; at < row.size(); ++at) {
      const char c = row[at];
      if (is_quoted) {
        const bool is_escape = c == copy_.escape && at + 1 < row.size() &&
                               (row[at + 1] == copy_.quote || row[at + 1] == copy_.escape);
        if (is_escape) {
          unescaped_.push_back(row[++at]);
        } else if (c == copy_.quote) {
          is_quoted = false;
        } else {
          unescaped_.push_back(c);
        }
      } else if (c == copy_.quote) {
        is_quoted = was_quoted = true;
      } else if (c == copy_.delimiter) {
        break;
      } else {
        unescaped_.push_back(c);
      }
    }
    if (is_quoted) return invalid_argument("unterminated CSV quoted field");
    const std::string_view field = std::string_view(unescaped_).substr(begin);
    if (!was_quoted && field == copy_.null_text) {
      fields_.emplace_back();
    } else {
      fields_.emplace_back(field);
    }
    if (at >= row.size()) return {};
    ++at;
    if (at == row.size()) {  // an empty field at the end
      if (copy_.null_text.empty()) {
        fields_.emplace_back();
      } else {
        fields_.emplace_back(std::string_view());
      }
      return {};
    }
  }
}

void write_copy_row(const CopyStatement& copy, std::span<const std::optional<std::string>> row,
                    std::string& out) {
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out.push_back(copy.delimiter);
    if (!row[i]) {
      out += copy.null_text;
      continue;
    }
    const std::string& field = *row[i];
    if (copy.is_csv) {
      const bool quotes =
          field == copy.null_text || field == "\\." ||
          field.find_first_of(std::string{copy.delimiter, copy.quote, '\n', '\r'}) != field.npos;
      if (!quotes) {
        out += field;
        continue;
      }
      out.push_back(copy.quote);
      for (const char c : field) {
        if (c == copy.quote || c == copy.escape) out.push_back(copy.escape);
        out.push_back(c);
      }
      out.push_back(copy.quote);
      continue;
    }
    for (const char c : field) {
      switch (c) {
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        case '\v':
          out += "\\v";
          break;
        default:
          if (c == '\\' || c == copy.delimiter) out.push_back('\\');
          out.push_back(c);
      }
    }
  }
  out.push_back('\n');
}

}  // namespace mneme
