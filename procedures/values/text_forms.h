// Text forms' readers: a text into the form in which a uuid, a json, a jsonb or a bytea is kept
// (engine/schema/text_form.h), and bytea's bytes into their text and back.
//
// Errors      22P02 in PostgreSQL's words.
#pragma once

#include <string>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

// Reads a text that is valid UTF-8 as PostgreSQL's input function of the type does. `read` is the text
// itself, or lies in the arena.
[[nodiscard]] bool read_form(const Type& type, std::string_view text, Arena& arena, std::string_view& read,
                             SqlError& error);

// The bytes of a bytea, which is written as \x and two digits a byte.
std::string bytes_of_bytea(std::string_view bytea);
std::string bytea_of_bytes(std::string_view bytes);
inline size_t bytea_size(std::string_view bytea) {
  return (bytea.size() - 2) / 2;
}

// The 16 bytes of a uuid, and back.
std::string bytes_of_uuid(std::string_view uuid);
std::string uuid_of_bytes(std::string_view bytes);
// A uuid of version 4, drawn at random.
std::string random_uuid();

}  // namespace mneme
