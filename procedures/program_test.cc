// Goal: a file is understood as PostgreSQL understands it, or refused with its place and a way out.
// Method: tables of (procedure text, expected IR or error), over one small schema.
#include "procedures/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "procedures/ir_printer.h"

namespace mneme {
namespace {

constexpr const char* kSchema = R"(
CREATE TABLE account (
  id INT PRIMARY KEY, branch INT NOT NULL, name VARCHAR(20) NOT NULL, code CHAR(4), balance NUMERIC(12,2) NOT NULL,
  rate DOUBLE PRECISION, small SMALLINT, big BIGINT, open BOOLEAN, since TIMESTAMP
);
CREATE INDEX account_by_branch ON account (branch, name);
CREATE TABLE entry (account INT, number INT, amount NUMERIC(8,2) NOT NULL, note TEXT CHECK (char_length(note) <= 40),
  PRIMARY KEY (account, number));
CREATE TABLE journal (account INT NOT NULL, text VARCHAR(10));
)";

std::string procedure_text(const std::string& parameters, const std::string& declarations,
                           const std::string& body) {
  return "CREATE PROCEDURE p(" + parameters + ") LANGUAGE plpgsql AS $$\nDECLARE " + declarations +
         "\nBEGIN\n" + body + "\nEND $$;\n";
}

// The IR of a body over these variables; or the error, without its file name and line.
std::string bound_body(const std::string& body) {
  const std::string text =
      std::string(kSchema) +
      procedure_text(
          "p_id INT, p_name VARCHAR(20), p_ids INT[], INOUT r_sum NUMERIC(12,2), INOUT r_ids INT[]",
          "v INT; w BIGINT; t VARCHAR(20); c CHAR(4); n NUMERIC(12,2); d DOUBLE PRECISION; b BOOLEAN; s "
          "TIMESTAMP; r RECORD; k CONSTANT INT := 7;",
          body);
  auto program = compile(text, "test.sql");
  if (!program.ok()) return program.error().message;
  const ir::Procedure& procedure = (*program)->procedures[0];
  return print_body(**program, procedure, procedure.body);
}

TEST(Program, BindsAPointSelect) {
  EXPECT_EQ(bound_body("SELECT balance INTO n FROM account WHERE id = p_id;"),
            "k := 7\n"
            "#0 select account point account_pkey(id = p_id)\n"
            "    reads account(id, balance)\n"
            "    into n := balance\n");
}

TEST(Program, SaysWhereAnErrorIs) {
  EXPECT_EQ(bound_body("\n  COMMIT;"),
            "test.sql:14:3: COMMIT is not supported inside a procedure: a call is one transaction, which "
            "commits at its "
            "end");
}

}  // namespace
}  // namespace mneme
