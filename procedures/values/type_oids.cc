#include "procedures/values/type_oids.h"

#include <algorithm>
#include <array>

#include "engine/schema/array_form.h"
#include "engine/schema/enum_types.h"

namespace mneme {
namespace {

struct TypeNumbers {
  TypeKind kind;
  bool is_other;  // is_text, is_zoned
  uint32_t oid;
  uint32_t array_oid;
  int16_t length;
};

constexpr std::array kTypes = {
    TypeNumbers{TypeKind::kBoolean, false, 16, 1000, 1},
    TypeNumbers{TypeKind::kBigInt, false, 20, 1016, 8},
    TypeNumbers{TypeKind::kSmallInt, false, 21, 1005, 2},
    TypeNumbers{TypeKind::kInt, false, 23, 1007, 4},
    TypeNumbers{TypeKind::kVarchar, true, 25, 1009, -1},
    TypeNumbers{TypeKind::kReal, false, 700, 1021, 4},
    TypeNumbers{TypeKind::kDouble, false, 701, 1022, 8},
    TypeNumbers{TypeKind::kChar, false, 1042, 1014, -1},
    TypeNumbers{TypeKind::kVarchar, false, 1043, 1015, -1},
    TypeNumbers{TypeKind::kTimestamp, false, 1114, 1115, 8},
    TypeNumbers{TypeKind::kTimestamp, true, 1184, 1185, 8},
    TypeNumbers{TypeKind::kDate, false, 1082, 1182, 4},
    TypeNumbers{TypeKind::kTime, false, 1083, 1183, 8},
    TypeNumbers{TypeKind::kInterval, false, 1186, 1187, 16},
    TypeNumbers{TypeKind::kNumeric, false, 1700, 1231, -1},
    TypeNumbers{TypeKind::kDecimal, false, 1700, 1231, -1},
};

constexpr uint32_t kOidOid = 26;
constexpr uint32_t kOidArrayOid = 1028;
constexpr uint32_t kNameOid = 19;
constexpr uint32_t kNameArrayOid = 1003;
constexpr uint32_t kRecordOid = 2249;

struct FormNumbers {
  TextForm form;
  uint32_t oid;
  uint32_t array_oid;
  int16_t length;
};
constexpr std::array kForms = {
    FormNumbers{TextForm::kJson, 114, 199, -1}, FormNumbers{TextForm::kUuid, 2950, 2951, 16},
    FormNumbers{TextForm::kJsonb, 3802, 3807, -1}, FormNumbers{TextForm::kBytea, 17, 1001, -1}};
// A type has two, the second for its array.
constexpr uint32_t kFirstEnumOid = 700'000;
constexpr uint32_t kEndOfEnumOids = 900'000;
constexpr uint32_t kSmallIntVector = 22;
constexpr uint32_t kOidVector = 30;

// name, unknown: values of ours, as text; void: a place for a value that a CALL gives.
constexpr std::array<uint32_t, 4> kDecidedByContext = {0, 19, 705, kVoidOid};

const TypeNumbers& type_numbers_of(const Type& type) {
  const auto found = std::ranges::find_if(kTypes, [&](const TypeNumbers& each) {
    const bool is_other = type.kind == TypeKind::kVarchar ? type.is_text : type.is_zoned;
    return each.kind == type.kind && each.is_other == is_other;
  });
  // A NULL without a type is text to PostgreSQL.
  return found == kTypes.end() ? kTypes[4] : *found;
}

const FormNumbers* form_numbers_of(const Type& type) {
  const auto* found = std::ranges::find(kForms, text_form(type), &FormNumbers::form);
  return found == kForms.end() ? nullptr : found;
}

}  // namespace

uint32_t oid_of(const Type& type) {
  if (type.kind == TypeKind::kEnum || type.elements == TypeKind::kEnum) {
    const bool is_array = type.is_array || type.elements != TypeKind::kNull;
    return kFirstEnumOid + 2 * enum_definition(type).id + (is_array ? 1 : 0);
  }
  if (const FormNumbers* form = form_numbers_of(type)) {
    const bool is_array = type.is_array || type.elements != TypeKind::kNull;
    return is_array ? form->array_oid : form->oid;
  }
  if (is_record(type)) return kRecordOid;
  if (is_name(type)) return type.elements != TypeKind::kNull ? kNameArrayOid : kNameOid;
  if (type.kind == TypeKind::kBigInt && type.precision == kOidType.precision)
    return type.is_array ? kOidArrayOid : kOidOid;
  if (type.elements != TypeKind::kNull && type.precision == kOidArrayPrecision) return kOidArrayOid;
  if (is_vector(type)) return type.elements == TypeKind::kSmallInt ? kSmallIntVector : kOidVector;
  if (type.elements != TypeKind::kNull)
    return oid_of(Type{.kind = type.elements,
                       .is_array = true,
                       .is_text = type.elements == TypeKind::kVarchar ? type.is_text : true,
                       .is_zoned = type.is_zoned});
  return type.is_array ? type_numbers_of(type).array_oid : type_numbers_of(type).oid;
}

int16_t length_of(const Type& type) {
  constexpr int16_t kNameBytes = 64;
  if (type.kind == TypeKind::kEnum) return type.is_array ? int16_t{-1} : int16_t{4};
  if (is_array_form(type) && !is_vector(type)) return -1;
  if (type == kOidType) return 4;
  if (is_name(type) && type.elements == TypeKind::kNull) return kNameBytes;
  if (const FormNumbers* form = form_numbers_of(type))
    return type.is_array || type.elements != TypeKind::kNull ? int16_t{-1} : form->length;
  return type.is_array ? int16_t{-1} : type_numbers_of(type).length;
}

int32_t modifier_of(const Type& type) {
  if (is_array_form(type) && !is_vector(type) && !is_name(type))
    return type.element_modifier == 0 ? -1 : modifier_of(declared_element(type));
  if (type.is_string() && type.length != 0 && !type.is_text) return type.length + 4;
  if (type.kind == TypeKind::kNumeric && type.precision != 0)
    return ((type.precision << 16) | type.scale) + 4;
  if ((type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kTime) && type.precision != 0)
    return type.precision - 1;
  // 0x7fff says that the interval has all fields, the low half how many digits its seconds have.
  if (type.kind == TypeKind::kInterval && type.precision != 0) return 0x7fff << 16 | (type.precision - 1);
  return -1;
}

std::optional<Type> type_of_oid(uint32_t oid) {
  if (oid >= kFirstEnumOid && oid < kEndOfEnumOids) return Type();
  if (std::ranges::find(kDecidedByContext, oid) != kDecidedByContext.end()) return Type();
  for (const FormNumbers& each : kForms) {
    if (each.oid != oid && each.array_oid != oid) continue;
    Type type = form_type(each.form, each.form == TextForm::kUuid ? kUuidLength : uint16_t{0});
    type.is_array = each.array_oid == oid;
    return type;
  }
  for (const TypeNumbers& each : kTypes) {
    if (each.oid != oid && each.array_oid != oid) continue;
    Type type;
    type.kind = each.kind;
    (each.kind == TypeKind::kVarchar ? type.is_text : type.is_zoned) = each.is_other;
    type.is_array = each.array_oid == oid;
    return type;
  }
  return std::nullopt;
}

}  // namespace mneme
