#include "procedures/interpreter/call_hints.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"

namespace mneme {

namespace {

constexpr uint8_t kInteger = 0;
constexpr uint8_t kText = 1;
constexpr uint8_t kMoreColumns = 0x80;

bool is_text(const Value& value) {
  return value.kind() == Value::Kind::kText;
}

bool is_equal(const Value& a, const Value& b) {
  if (is_text(a) != is_text(b)) return false;
  return is_text(a) ? a.as_text() == b.as_text() : a.as_int() == b.as_int();
}

bool has_null(std::span<const Value> key) {
  return std::ranges::any_of(key, &Value::is_null);
}

class HintReader {
 public:
  HintReader(ByteSpan bytes, Arena& arena) : bytes_(bytes), arena_(arena) {}

  const char* fault() const { return bytes_.bad() ? "ends early" : fault_; }

  std::span<const CallHint> read(const ir::Procedure& procedure) {
    if (bytes_.remaining() > kMostHintBytes) refuse("has too many bytes");
    const uint64_t count = get_varint();
    if (count == 0 || count > kMostHintOperations) refuse("has none of its operations, or too many");
    if (fault() != nullptr) return {};
    const std::span<CallHint> hints = arena_.make_array<CallHint>(count);
    for (size_t i = 0; i < count && fault() == nullptr; ++i) {
      const uint64_t operation = get_varint();
      if (operation >= procedure.operations.size()) refuse("names an operation that the procedure has not");
      hints[i].operation = OperationId(static_cast<uint32_t>(operation));
      if (i > 0 && hints[i].operation <= hints[i - 1].operation) refuse("has operations out of order");
      read_keys(hints[i]);
    }
    if (bytes_.remaining() > 0) refuse("goes on behind its end");
    return hints;
  }

 private:
  void refuse(const char* fault) {
    if (fault_ == nullptr) fault_ = fault;
  }
  uint64_t get_varint() {
    const size_t before = bytes_.remaining();
    const uint64_t value = bytes_.get_varint();
    if (before - bytes_.remaining() > 1 && !bytes_.bad() && bytes_.last() == std::byte{0})
      refuse("has a number in too many bytes");
    return value;
  }
  void read_keys(CallHint& hint) {
    const uint64_t count = get_varint();
    keys_ += std::min<uint64_t>(count, kMostHintKeys + 1);
    if (keys_ > kMostHintKeys) refuse("has too many keys");
    if (count == 0 || fault() != nullptr) return;
    uint8_t kinds[kMostHintColumns];
    for (bool more = true; more && fault() == nullptr;) {
      if (hint.columns == kMostHintColumns) return refuse("has keys of too many columns");
      const auto column = bytes_.get<uint8_t>();
      more = (column & kMoreColumns) != 0;
      const uint8_t kind = column & ~kMoreColumns;
      if (kind > kText) refuse("has a column of no known kind");
      kinds[hint.columns++] = kind;
    }
    if (fault() != nullptr) return;
    const std::span<Value> values = arena_.make_array<Value>(count * hint.columns);
    for (size_t i = 0; i < values.size() && fault() == nullptr; ++i)
      values[i] = read_value(kinds[i % hint.columns]);
    hint.keys = values;
  }
  Value read_value(uint8_t kind) {
    if (kind == kInteger) return Value::of_int(unzigzag(get_varint()));
    const std::string_view text = as_text(bytes_.get_bytes(get_varint()));
    if (invalid_utf8(text) != text.npos) refuse("has text that is not valid UTF-8, or has a zero byte");
    return Value::of_text(text);
  }

  ByteReader bytes_;
  Arena& arena_;
  uint64_t keys_ = 0;
  const char* fault_ = nullptr;
};

}  // namespace

void encode_hints(std::span<const CallHint> hints, ByteBuffer& out) {
  if (hints.empty()) return;
  out.put_varint(hints.size());
  for (const CallHint& hint : hints) {
    out.put_varint(hint.operation.value);
    if (hint.keys.empty()) {
      out.put_varint(0);
      continue;
    }
    out.put_varint(hint.keys.size() / hint.columns);
    for (uint32_t c = 0; c < hint.columns; ++c) {
      const uint8_t more = c + 1 < hint.columns ? kMoreColumns : 0;
      out.put(static_cast<uint8_t>((is_text(hint.keys[c]) ? kText : kInteger) | more));
    }
    for (const Value& value : hint.keys) {
      if (is_text(value))
        out.put_text(value.as_text());
      else
        out.put_signed(value.as_int());
    }
  }
}

void HintNotes::begin(const ToldProcedure& procedure) {
  procedure_ = &procedure;
  // What is told is at most so much: spans into these stay.
  ordered_.reserve(kMostHintKeys * kMostHintColumns);
  notes_.clear();
  values_.clear();
  is_too_much_ = procedure.operations.size() > kMostHintOperations;
}

bool HintNotes::tell(OperationId operation, std::span<const Value> key) {
  if (is_too_much_ || has_null(key)) return true;
  const auto found = std::ranges::lower_bound(procedure_->operations, operation);
  DCHECK(found != procedure_->operations.end() && *found == operation);
  const Note note{static_cast<size_t>(found - procedure_->operations.begin()), values_.size(), key.size()};
  const bool is_known = std::ranges::any_of(notes_, [&](const Note& other) {
    return other.operation == note.operation && std::ranges::equal(key_of(other), key, is_equal);
  });
  if (is_known) return true;
  if (notes_.size() == kMostHintKeys || key.size() > kMostHintColumns) {
    is_too_much_ = true;
    return true;
  }
  notes_.push_back(note);
  values_.insert(values_.end(), key.begin(), key.end());
  return true;
}

size_t HintNotes::encode(ByteBuffer& out) {
  if (is_too_much_) return 0;
  hints_.clear();
  ordered_.clear();
  for (size_t i = 0; i < procedure_->operations.size(); ++i) {
    CallHint& hint = hints_.emplace_back(CallHint{procedure_->operations[i]});
    const size_t first = ordered_.size();
    for (const Note& note : notes_) {
      if (note.operation != i) continue;
      hint.columns = static_cast<uint32_t>(note.columns);
      ordered_.insert(ordered_.end(), key_of(note).begin(), key_of(note).end());
    }
    hint.keys = std::span(ordered_).subspan(first);
  }
  const size_t begin = out.size();
  encode_hints(hints_, out);
  if (out.size() - begin > kMostHintBytes) out.resize(begin);
  return out.size() - begin;
}

bool HintCheck::tell(OperationId operation, std::span<const Value> key) {
  const CallHint* const hint = find_hint(hints_, operation);
  if (hint == nullptr || has_null(key)) return true;
  if (hint->columns != key.size()) return false;
  for (size_t first = 0; first < hint->keys.size(); first += key.size()) {
    if (std::ranges::equal(hint->keys.subspan(first, key.size()), key, is_equal)) return true;
  }
  return false;
}

const CallHint* find_hint(std::span<const CallHint> hints, OperationId operation) {
  const auto found = std::ranges::find(hints, operation, &CallHint::operation);
  return found == hints.end() ? nullptr : &*found;
}

std::string print_hint(const ir::Procedure& procedure, const CallHint& hint) {
  std::string text = fmt::format("line {}:", procedure.operations[hint.operation.value].where.line);
  if (hint.keys.empty()) return text + " none";
  for (size_t i = 0; i < hint.keys.size(); ++i) {
    const Value& value = hint.keys[i];
    text += i % hint.columns > 0 ? ", " : i > 0 ? "), (" : " (";
    text += is_text(value) ? fmt::format("'{}'", value.as_text()) : fmt::format("{}", value.as_int());
  }
  return text + ")";
}

const char* decode_hints(const ir::Procedure& procedure, ByteSpan bytes, Arena& arena,
                         std::span<const CallHint>& hints) {
  HintReader reader(bytes, arena);
  hints = reader.read(procedure);
  return reader.fault();
}

}  // namespace mneme
