// Goal: a statement whose names stand behind schemas means what PostgreSQL's search path makes of it. Method:
// statements over objects of several schemas, and the texts that with_schemas() makes of them.
#include "procedures/catalog/search_path.h"

#include <gmock/gmock.h>

#include "procedures/parser/parser.h"

namespace mneme {
namespace {

constexpr const char* kSource =
    "CREATE SCHEMA a; CREATE SCHEMA \"B c\"; CREATE TABLE t (id INT PRIMARY KEY);"
    "CREATE TABLE a.t (id INT PRIMARY KEY); CREATE TABLE a.u (id INT PRIMARY KEY, \"odd one\" INT);"
    "CREATE TABLE \"B c\".u (id INT PRIMARY KEY); CREATE TABLE p (id INT PRIMARY KEY); CREATE SEQUENCE a.q;"
    "CREATE TYPE a.mood AS ENUM ('x');"
    "CREATE FUNCTION a.f(n INT) RETURNS INT LANGUAGE sql AS $$ SELECT n $$;";

class SearchPathTest : public testing::Test {
 protected:
  std::string made(std::string_view setting, const std::string& statement) const {
    std::string text = with_schemas(statement, *program_, SearchPath(*program_, setting, "me"));
    parse_command(text);
    return text;
  }
  const std::unique_ptr<Program> program_ = *compile(kSource, "test.sql");
};

TEST_F(SearchPathTest, HasTheSchemasThatThereAre) {
  EXPECT_THAT(SearchPath(*program_, "\"$user\", public", "me").schemas(), testing::ElementsAre("public"));
  EXPECT_THAT(SearchPath(*program_, "\"$user\", public", "a").schemas(), testing::ElementsAre("a", "public"));
  EXPECT_THAT(SearchPath(*program_, "\"B c\",A, none, a", "me").schemas(), testing::ElementsAre("B c", "a"));
  EXPECT_EQ(SearchPath(*program_, "", "me").creates_in(), kNowhere);
  EXPECT_EQ(SearchPath(*program_, "none, a", "me").creates_in(), "a");
}

TEST_F(SearchPathTest, NamesLeadToTheFirstSchemaThatHasThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT * FROM t, u, p, missing", "SELECT * FROM a.t, a.u, p, missing"},
      {"SELECT t.id FROM public.t JOIN a.u x ON x.id = t.id",
       "SELECT t.id FROM public.t JOIN a.u x ON x.id = t.id"},
      {"WITH t AS (SELECT 1) SELECT * FROM t", "WITH t AS (SELECT 1) SELECT * FROM t"},
      {"WITH t AS (SELECT * FROM t) SELECT * FROM t", "WITH t AS (SELECT * FROM a.t) SELECT * FROM t"},
      {"WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t",
       "WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t"},
      {"INSERT INTO u SELECT id, f(id) FROM p RETURNING u.id",
       "INSERT INTO a.u SELECT id, a.f(id) FROM p RETURNING u.id"},
      {"UPDATE u SET id = abs(id) FROM t WHERE u.id = t.id",
       "UPDATE a.u SET id = abs(id) FROM a.t WHERE u.id = t.id"},
      {"DELETE FROM u USING t WHERE EXISTS (SELECT 1 FROM p)",
       "DELETE FROM a.u USING a.t WHERE EXISTS (SELECT 1 FROM p)"},
      {"CREATE TABLE t2 (id SERIAL, m mood, r INT REFERENCES t, d BIGINT DEFAULT nextval('q'))",
       "CREATE TABLE a.t2 (id SERIAL, m a.mood, r INT REFERENCES a.t, d BIGINT DEFAULT nextval('a.q'))"},
      {"CREATE INDEX i ON u (id)", "CREATE INDEX i ON a.u (id)"},
      {"CREATE SEQUENCE s OWNED BY u.id", "CREATE SEQUENCE a.s OWNED BY a.u.id"},
      {"SELECT 'u'::regclass, regclass 't', 'p'::regclass, 'x'::mood",
       "SELECT 'a.u'::regclass, regclass 'a.t', 'p'::regclass, 'x'::a.mood"},
      {"CREATE VIEW v AS SELECT * FROM u", "CREATE VIEW a.v AS SELECT * FROM a.u"},
      {"CREATE FUNCTION g(n u.id%TYPE) RETURNS INT LANGUAGE sql AS $$ SELECT max(id) FROM u $$",
       "CREATE FUNCTION a.g(n a.u.id%TYPE) RETURNS INT LANGUAGE sql AS $$ SELECT max(id) FROM a.u $$"},
      {"SELECT id INTO made FROM u", "SELECT id INTO a.made FROM a.u"},
      {"DROP TABLE u, p", "DROP TABLE a.u, p"},
      {"COMMENT ON COLUMN u.id IS 'x'", "COMMENT ON COLUMN a.u.id IS 'x'"},
      {"TRUNCATE u", "TRUNCATE a.u"},
      {"MERGE INTO u USING t ON u.id = t.id WHEN MATCHED THEN DELETE",
       "MERGE INTO a.u USING a.t ON u.id = t.id WHEN MATCHED THEN DELETE"},
  };
  for (const auto& [statement, expected] : cases) EXPECT_EQ(made("a, public", statement), expected);
  EXPECT_EQ(made("public, \"B c\"", "SELECT * FROM t, u"), "SELECT * FROM t, \"B c\".u");
  EXPECT_EQ(made("a", "SELECT * FROM t, p"), "SELECT * FROM a.t, pg_nowhere.p");
  EXPECT_EQ(made("", "CREATE TABLE x (id INT)"), "CREATE TABLE pg_nowhere.x (id INT)");
  EXPECT_EQ(made("public", "SELECT * FROM u"), "SELECT * FROM u");
}

TEST_F(SearchPathTest, PlacesAreThoseOfTheTextThatWasWritten) {
  const std::string before = "SELECT id FROM u,\n t WHERE missing";
  const std::string after = made("a", before);
  EXPECT_EQ(after, "SELECT id FROM a.u,\n a.t WHERE missing");
  const ir::SourceLocation place = place_before(before, after, {2, 12});
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 10U);
}

}  // namespace
}  // namespace mneme
