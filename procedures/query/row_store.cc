#include "procedures/query/row_store.h"

#include <cmath>
#include <cstring>

#include "procedures/times/interval.h"
#include "procedures/values/decimal.h"

namespace mneme::query {

void RowStore::add(std::span<const Value> row, Arena* arena) {
  for (const Value& value : row) {
    values_.push_back(arena != nullptr && value.kind() == Value::Kind::kText
                          ? Value::of_text(arena->copy(value.as_text()))
                          : value);
  }
  ++rows_;
}

void append_key(TypeKind kind, const Value& value, std::string& key) {
  const auto put = [&](const auto& bits) {
    char bytes[sizeof bits];
    std::memcpy(bytes, &bits, sizeof bits);
    key.append(bytes, sizeof bits);
  };
  if (value.is_null()) {
    key.push_back('\0');
    return;
  }
  key.push_back('\1');
  switch (kind) {
    case TypeKind::kNumeric:
      return put(value.as_numeric());
    case TypeKind::kDecimal: {
      const Value plain = without_trailing_zeros(value);
      put(plain.as_numeric());
      return key.push_back(static_cast<char>(plain.digits()));
    }
    case TypeKind::kInterval:
      return put(estimate_of_interval(value));
    case TypeKind::kReal:
    case TypeKind::kDouble: {
      double number = value.as_double();
      if (number == 0) number = 0;  // there are two of them
      if (std::isnan(number)) number = std::nan("");
      return put(number);
    }
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      put(value.as_text().size());
      key.append(value.as_text());
      return;
    default:
      return put(value.as_int());
  }
}

}  // namespace mneme::query
