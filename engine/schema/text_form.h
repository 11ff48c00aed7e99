// Text forms: SQL types whose values are kept as texts in one form each: uuid, json, jsonb and bytea.
//
// Invariants  a value of such a type is the text that PostgreSQL prints, so that bytes compare as values do:
//             a uuid in lower case, a bytea as \x and two digits a byte, a jsonb with its keys in order. The
//             functions that read other texts into the form are in procedures/values/text_forms.h.
//             Type::precision of a kVarchar tells the form; where Type::elements is set, the elements' form.
#pragma once

#include <cstdint>

#include "engine/schema/type.h"

namespace mneme {

enum class TextForm : uint8_t {
  kNone = 0,
  kPair = 1,  // of information_schema._pg_expandarray()
  kJson = 2,
  kName = 3,  // of an object in the catalogs
  kOids = 4,  // an array of numbers of such objects
  kUuid = 5,
  kJsonb = 6,
  kBytea = 7,
};

inline TextForm text_form(const Type& type) {
  return type.kind == TypeKind::kVarchar ? static_cast<TextForm>(type.precision) : TextForm::kNone;
}

// Whether texts are read before they are values of the type.
inline bool has_read_form(const Type& type) {
  const TextForm form = text_form(type);
  return type.elements == TypeKind::kNull && (form == TextForm::kJson || form == TextForm::kUuid ||
                                              form == TextForm::kJsonb || form == TextForm::kBytea);
}
inline bool is_form(const Type& type, TextForm form) {
  return type.elements == TypeKind::kNull && text_form(type) == form;
}
inline bool is_json(const Type& type) {
  return is_form(type, TextForm::kJson) || is_form(type, TextForm::kJsonb);
}

constexpr Type form_type(TextForm form, uint16_t length = 0) {
  return {
      .kind = TypeKind::kVarchar, .precision = static_cast<uint8_t>(form), .length = length, .is_text = true};
}

inline constexpr uint16_t kUuidLength = 36;
inline constexpr Type kUuidType = form_type(TextForm::kUuid, kUuidLength);
inline constexpr Type kJsonType = form_type(TextForm::kJson);
inline constexpr Type kJsonbType = form_type(TextForm::kJsonb);
inline constexpr Type kByteaType = form_type(TextForm::kBytea);

// The type as a parameter has it: without digits and lengths, but in the form that it has.
inline Type without_modifiers(Type type) {
  if (!type.is_string()) type.precision = 0;
  type.length = 0;
  type.element_modifier = 0;
  return type;
}

// The type's name where it is one of these, or nullptr.
inline const char* form_name(const Type& type) {
  switch (text_form(type)) {
    case TextForm::kJson:
      return "json";
    case TextForm::kUuid:
      return "uuid";
    case TextForm::kJsonb:
      return "jsonb";
    case TextForm::kBytea:
      return "bytea";
    default:
      return nullptr;
  }
}

}  // namespace mneme
