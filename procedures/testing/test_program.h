// For the language's tests: statements bound over one small schema and one set of variables.
//
// The schema and the procedure's head stand on the first line, so that places in errors read 2:column.
#pragma once

#include <string>

#include "procedures/binder/ir_printer.h"
#include "procedures/binder/program.h"

namespace mneme {

inline constexpr const char* kTestSchema =
    "CREATE TABLE account (id INT PRIMARY KEY, branch INT NOT NULL, name VARCHAR(20) NOT NULL, code CHAR(4), "
    "balance NUMERIC(12,2) NOT NULL, rate DOUBLE PRECISION, small SMALLINT, big BIGINT, open BOOLEAN, since "
    "TIMESTAMP); "
    "CREATE INDEX account_by_branch ON account (branch, name); "
    "CREATE TABLE entry (account INT, number INT, amount NUMERIC(8,2) NOT NULL, "
    "note TEXT CHECK (char_length(note) <= 40), PRIMARY KEY (account, number)); "
    "CREATE TABLE journal (account INT NOT NULL, line VARCHAR(10)); "
    "CREATE TABLE tally (kind INT NOT NULL, amount INT NOT NULL); "
    "CREATE INDEX tally_by_kind ON tally (kind); ";

inline std::string test_procedure(const std::string& statements) {
  return std::string(kTestSchema) +
         "CREATE PROCEDURE p(p_id INT, p_name VARCHAR(20), p_ids INT[], INOUT r_sum NUMERIC(12,2), INOUT "
         "r_ids INT[]) "
         "LANGUAGE plpgsql AS $$ DECLARE v INT; w BIGINT; t VARCHAR(20); c CHAR(4); n NUMERIC(12,2); "
         "d DOUBLE PRECISION; b BOOLEAN; s TIMESTAMP; r RECORD; k CONSTANT INT := 7; BEGIN\n" +
         statements + "\nEND $$;\n";
}

// The error without the file's name; "" where the text is accepted.
inline std::string refusal_of(const std::string& text) {
  const auto program = compile(text, "test.sql");
  return program.ok() ? "" : program.error().message.substr(std::string("test.sql:").size());
}

// The IR of the statements as printed, from a new line on.
inline std::string bound_text(const std::string& statements) {
  const auto program = compile(test_procedure(statements), "test.sql");
  if (!program.ok()) return program.error().message;
  const ir::Procedure& procedure = (*program)->procedures[0];
  const std::string text = print_body(**program, procedure, procedure.body);
  const std::string head = "k := 7\n";
  return "\n" + text.substr(text.find(head) + head.size());
}

}  // namespace mneme
