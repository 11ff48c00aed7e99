// Array form: a column that is an array holds the text that spells it, as PostgreSQL prints it: {1,NULL,2}.
//
// Invariants  Type::elements of a kVarchar tells the elements' kind, Type::precision their text form
//             (text_form.h), Type::is_zoned and Type::enumeration theirs, and Type::is_text, of elements that
//             are kVarchar, whether they are text. A numeric's text says how many digits it has, so that
//             numerics are kDecimal there.
//             Type::element_modifier: of strings their length, of numerics precision and scale, of times one
//             more than the digits of a second.
//             A stored array has one spelling for each value of its elements; the functions that read others
//             into it are in procedures/values/array_form.h.
#pragma once

#include "engine/schema/text_form.h"
#include "engine/schema/type.h"

namespace mneme {

// The form of an array that is declared so: int[] is a text of ints.
inline Type array_form(const Type& declared) {
  Type form{.kind = TypeKind::kVarchar, .is_text = true, .elements = declared.kind};
  form.is_zoned = declared.is_zoned;
  form.enumeration = declared.enumeration;
  if (declared.is_string()) {
    form.is_text = declared.is_text;
    if (has_read_form(declared.element())) {
      form.precision = declared.precision;
    } else {
      form.element_modifier = declared.length;
    }
  } else if (declared.kind == TypeKind::kNumeric) {
    form.elements = TypeKind::kDecimal;
    form.element_modifier = static_cast<uint16_t>(declared.precision << 8 | declared.scale);
  } else {
    form.element_modifier = declared.precision;
  }
  return form;
}

// Returns the type that the elements were declared as.
inline Type declared_element(const Type& form) {
  const auto modifier = form.element_modifier;
  Type element{.kind = form.elements, .is_zoned = form.is_zoned, .enumeration = form.enumeration};
  if (element.is_string()) {
    element.precision = form.precision;
    element.is_text = form.is_text;
    element.length = is_form(element, TextForm::kUuid) ? kUuidLength : modifier;
  } else if (form.elements == TypeKind::kDecimal && modifier != 0) {
    element.kind = TypeKind::kNumeric;
    element.precision = static_cast<uint8_t>(modifier >> 8);
    element.scale = static_cast<uint8_t>(modifier & 0xff);
  } else {
    element.precision = static_cast<uint8_t>(modifier);
  }
  return element;
}

// Whether the type is a column's or a variable's that holds arrays in this form; the lists of numbers and of
// names that the catalogs have are none.
inline bool is_array_form(const Type& type) {
  return type.kind == TypeKind::kVarchar && type.elements != TypeKind::kNull;
}

}  // namespace mneme
