// Goal    what is read that never changes is an operation of its own, which waits for nothing; and nothing
//         else is taken apart.
// Method  procedures -> how many operations they have, and which blocks wait for which.
#include "analyzer/rewriting/constant_reads.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/dependency_graph.h"
#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

constexpr std::string_view kSchema = R"(
CREATE TABLE stock (id INT PRIMARY KEY, quantity INT NOT NULL, dist CHAR(4) NOT NULL, other INT NOT NULL);
CREATE TABLE line (id INT PRIMARY KEY, what CHAR(4), n INT);
CREATE INDEX stock_by_other ON stock (other);
)";

struct ApartCase {
  const char* name;
  const char* body;    // of a procedure t(p INT, q INT)
  const char* beside;  // another procedure
  size_t reads;        // that were taken apart
};

class ConstantReads : public testing::TestWithParam<ApartCase> {};

std::string apart_program(const ApartCase& of) {
  return std::string(kSchema) + "CREATE PROCEDURE t(p INT, q INT) LANGUAGE plpgsql AS $$\n" +
         "DECLARE d CHAR(4); n INT; m INT;\nBEGIN\n" + of.body + "\nEND; $$;\n" + of.beside;
}

TEST_P(ConstantReads, AreApart) {
  const auto program = compile_or_die(apart_program(GetParam()));
  const std::unique_ptr<Program> apart = with_constant_reads_apart(*program);
  EXPECT_EQ(apart->procedures[0].operations.size(),
            program->procedures[0].operations.size() + GetParam().reads);
  for (const ir::Operation& operation : apart->procedures[0].operations) {
    EXPECT_EQ(operation.id.value, &operation - apart->procedures[0].operations.data());
  }
}

constexpr const char* kUpdate =
    "UPDATE stock SET quantity = quantity - 1 WHERE id = p RETURNING quantity, dist INTO n, d;"
    "INSERT INTO line VALUES (q, d, n);";

constexpr ApartCase kApartCases[] = {
    {"of_an_update", kUpdate, "", 1},
    {"of_a_read",
     "SELECT quantity, dist INTO n, d FROM stock WHERE id = p;"
     "UPDATE stock SET quantity = n - 1 WHERE id = p; INSERT INTO line VALUES (q, d, n);",
     "", 1},
    {"two_of_one_row",
     "UPDATE stock SET quantity = quantity - 1 WHERE id = p RETURNING dist, other INTO d, m;"
     "INSERT INTO line VALUES (q, d, m);",
     "", 1},
    {"all_of_a_read_stays", "SELECT dist INTO d FROM stock WHERE id = p; INSERT INTO line VALUES (q, d, 1);",
     "", 0},
    {"another_writes_it", kUpdate,
     "CREATE PROCEDURE u(p INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE stock SET dist = 'a' WHERE id = p; END; "
     "$$;",
     0},
    {"another_deletes", kUpdate,
     "CREATE PROCEDURE u(p INT) LANGUAGE plpgsql AS $$ BEGIN DELETE FROM stock WHERE id = p; END; $$;", 0},
    {"another_inserts", kUpdate,
     "CREATE PROCEDURE u(p INT) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO stock VALUES (p, 1, 'a', 2); END; "
     "$$;",
     0},
    {"another_writes_the_key", kUpdate,
     "CREATE PROCEDURE u(p INT) LANGUAGE plpgsql AS $$ BEGIN UPDATE stock SET id = 5 WHERE id = p; END; $$;",
     0},
    {"of_many_rows",
     "SELECT quantity, dist INTO n, d FROM stock WHERE other = p;"
     "UPDATE stock SET quantity = 1 WHERE id = p; INSERT INTO line VALUES (q, d, n);",
     "", 0},
    {"the_key_is_set",
     "UPDATE stock SET quantity = quantity - 1 WHERE id = m RETURNING quantity, other INTO n, m;"
     "INSERT INTO line VALUES (q, 'a', m + n);",
     "", 0},
    {"in_a_loop",
     "FOR i IN 1..p LOOP UPDATE stock SET quantity = quantity - 1 WHERE id = i RETURNING quantity, dist INTO "
     "n, d;"
     "INSERT INTO line VALUES (q + i, d, n); END LOOP;",
     "", 1},
};

INSTANTIATE_TEST_SUITE_P(Cases, ConstantReads, testing::ValuesIn(kApartCases),
                         [](const auto& of) { return std::string(of.param.name); });

// The line needs the text alone.
TEST(ConstantReadsApart, LessWaits) {
  const auto program = compile_or_die(std::string(kSchema) + R"(
      CREATE PROCEDURE t(p INT, q INT) LANGUAGE plpgsql AS $$
      DECLARE d CHAR(4);
      BEGIN
        UPDATE stock SET quantity = quantity - 1 WHERE id = p RETURNING dist INTO d;
        INSERT INTO line VALUES (q, d, 1);
      END; $$;)");
  EXPECT_EQ(analyze(*program).edges.size(), 1U);
  AnalysisOptions options;
  options.lanes_from_arguments = true;
  EXPECT_TRUE(analyze(*program, options).edges.empty());
}

}  // namespace
}  // namespace mneme
