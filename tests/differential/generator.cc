#include "tests/differential/generator.h"

#include "tests/differential/random_procedures.h"
#include "tests/differential/random_queries.h"

namespace mneme::differential {
namespace {

class Generator : RandomProcedures {
 public:
  explicit Generator(uint64_t seed) : RandomProcedures(seed) {}

  Scenario scenario() {
    Scenario steps;
    const size_t tables = 1 + below(2);
    for (size_t i = 0; i < tables; ++i) steps.push_back({Step::Kind::kTable, create_table(i), false, ""});
    if (chance(40)) steps.push_back({Step::Kind::kIndex, create_index(), false, ""});
    makes_procedure_ = true;
    for (size_t i = below(4); i > 0; --i) steps.push_back(create_procedure(i));
    makes_procedure_ = false;
    for (size_t i = 3 + below(8); i > 0; --i) steps.push_back({Step::Kind::kRows, insert(), false, ""});
    bool in_block = false;
    for (size_t i = 40 + below(50); i > 0; --i) {
      if (chance(in_block ? 20 : 6)) {
        steps.push_back(in_block
                            ? Step{Step::Kind::kEnd, Fixed{chance(50) ? "COMMIT" : "ROLLBACK"}, false, ""}
                            : Step{Step::Kind::kBegin, Fixed{"BEGIN"}, false, ""});
        in_block = !in_block;
      } else {
        steps.push_back(statement());
      }
    }
    if (in_block) steps.push_back({Step::Kind::kEnd, Fixed{"COMMIT"}, false, ""});
    for (const TableShape& table : tables_) {
      steps.push_back({Step::Kind::kTableAtEnd, Fixed{"SELECT * FROM " + table.name}, false, ""});
    }
    return steps;
  }
};

class QueryGenerator : RandomQueries {
 public:
  explicit QueryGenerator(uint64_t seed) : RandomQueries(seed) {}

  Scenario scenario() {
    Scenario steps;
    for (size_t i = 1; i <= 3; ++i) steps.push_back({Step::Kind::kTable, create_query_table(i), false, ""});
    steps.push_back(
        {Step::Kind::kTable, Fixed{"CREATE TABLE seen (number INT PRIMARY KEY, value TEXT)"}, false, ""});
    const std::vector<TableShape> bases = tables_;
    if (chance(50)) steps.push_back({Step::Kind::kIndex, Fixed{"CREATE INDEX t2_k ON t2 (k)"}, false, ""});
    for (size_t i = 1; i <= 2; ++i) steps.push_back({Step::Kind::kIndex, create_view(i), false, ""});
    for (const TableShape& table : bases) steps.push_back({Step::Kind::kRows, fill(table), false, ""});
    for (size_t i = 40 + below(20); i > 0; --i) {
      const size_t kind = below(100);
      steps.push_back(kind < 20 ? block(i) : kind < 88 ? query_statement() : change_statement());
    }
    steps.push_back({Step::Kind::kTableAtEnd, Fixed{"SELECT * FROM seen"}, false, ""});
    for (const TableShape& table : bases) {
      steps.push_back({Step::Kind::kTableAtEnd, Fixed{"SELECT * FROM " + table.name}, false, ""});
    }
    return steps;
  }
};

}  // namespace

Scenario random_scenario(uint64_t seed) {
  return Generator(seed).scenario();
}

Scenario random_queries(uint64_t seed) {
  return QueryGenerator(seed).scenario();
}

}  // namespace mneme::differential
