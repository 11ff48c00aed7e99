// Goal: an index counts as unread if no replayed operation goes by it, and as constant if nothing writes its
// table. Method: one schema; procedures -> the names of the indexes, under the analyses that recovery uses.
#include "recovery/log/replayed_indexes.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/testing/test_programs.h"

namespace mneme {
namespace {

constexpr std::string_view kPricesSql = R"(
CREATE TABLE price (p_item INT NOT NULL, p_amount INT NOT NULL, p_class INT NOT NULL, PRIMARY KEY (p_item));
CREATE INDEX price_by_class ON price (p_class);
CREATE TABLE sale (s_id INT NOT NULL, s_item INT NOT NULL, s_code INT NOT NULL, PRIMARY KEY (s_id));
CREATE INDEX sale_by_item ON sale (s_item);
CREATE UNIQUE INDEX sale_by_code ON sale (s_code);
CREATE UNIQUE INDEX sale_by_code_and_id ON sale (s_code, s_id);
)";

struct IndexCase {
  const char* name;
  const char* body;
  const char* unread;
  const char* constant;
};

class ReplayedIndexes : public testing::TestWithParam<IndexCase> {};

std::string index_names(const Catalog& catalog, const std::vector<IndexId>& indexes) {
  std::string names;
  for (const IndexId id : indexes) names += (names.empty() ? "" : " ") + catalog.index(id).name;
  return names;
}

TEST_P(ReplayedIndexes, AreAsExpected) {
  const auto program = compile_or_die(std::string(kPricesSql) +
                                      "CREATE PROCEDURE t(p INT, q INT) LANGUAGE plpgsql AS $$\n"
                                      "DECLARE x INT; y INT;\nBEGIN\n" +
                                      GetParam().body + "\nEND; $$;");
  for (const AnalysisOptions& options : {AnalysisOptions(), AnalysisOptions::for_ad_hoc()}) {
    const DependencyGraph graph = analyze(*program, options);
    EXPECT_EQ(index_names(program->catalog, unread_indexes(graph, program->catalog)), GetParam().unread);
    EXPECT_EQ(index_names(program->catalog, constant_indexes(graph, program->catalog)), GetParam().constant);
  }
}

constexpr IndexCase kIndexCases[] = {
    {"insert_alone", "INSERT INTO sale VALUES (p, q, p);", "price_by_class sale_by_item sale_by_code_and_id",
     ""},
    {"a_price_is_read",
     "SELECT p_amount INTO x FROM price WHERE p_item = q; INSERT INTO sale VALUES (p, x, p);",
     "price_by_class sale_by_item sale_by_code_and_id", "price_pkey"},
    {"the_price_is_written",
     "SELECT p_amount INTO x FROM price WHERE p_item = q; UPDATE price SET p_amount = x + 1 WHERE p_item = "
     "p;",
     "price_by_class sale_by_item sale_by_code_and_id", ""},
    {"a_write_reads_the_index", "UPDATE sale SET s_code = p WHERE s_item = q;",
     "price_by_class sale_by_code_and_id", ""},
    {"a_write_depends_on_the_index",
     "SELECT count(*) INTO x FROM sale WHERE s_item = q; INSERT INTO sale VALUES (p, x, p);",
     "price_by_class sale_by_code_and_id", ""},
    {"a_read_that_feeds_nothing",
     "SELECT count(*) INTO x FROM sale WHERE s_item = q; INSERT INTO sale VALUES (p, q, p);",
     "price_by_class sale_by_item sale_by_code_and_id", ""},
    {"a_join_goes_by_the_index",
     "SELECT s_code INTO x FROM price JOIN sale ON s_item = p_item WHERE p_item = q ORDER BY s_id LIMIT 1; "
     "INSERT INTO sale VALUES (p, x, p);",
     "price_by_class sale_by_code_and_id", "price_pkey"},
    {"nothing_is_replayed", "SELECT count(*) INTO x FROM sale WHERE s_item = q;",
     "price_by_class sale_by_item sale_by_code_and_id", ""},
};

INSTANTIATE_TEST_SUITE_P(Cases, ReplayedIndexes, testing::ValuesIn(kIndexCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mneme
