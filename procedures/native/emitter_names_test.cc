// Goal: whatever names a program has, they are no code: the text that is emitted compiles, and means what the
// interpreter takes the program for. Method: procedures, tables, columns and indexes with names that are
// alike but for characters that C++ has no place for, that end a comment, a string or a line, or that would
// be code of their own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "procedures/binder/program.h"
#include "procedures/interpreter/interpreter.h"
#include "procedures/native/compiled_units.h"
#include "procedures/native/emitter.h"
#include "procedures/native/native_code.h"
#include "procedures/testing/map_access.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = R"sql(
CREATE TABLE "a b" ("a_b" INT PRIMARY KEY, "a__b" INT NOT NULL, "a b" INT NOT NULL, "A_B" INT, "größe" INT,
                    "grüße" INT, "_" INT, "x*/ int y; /*" INT, "tail\" INT);
CREATE TABLE "a_b" ("id\" INT PRIMARY KEY, "the ""n""" INT);
CREATE INDEX "by the\" ON "a b" ("a b", "A_B");
CREATE PROCEDURE "x(){} static int y"("r" INT, INOUT "R" INT, INOUT "r r" INT) LANGUAGE plpgsql AS $$
DECLARE "r__r" INT := 3; "Q20" INT; "int" INT; " " INT;
BEGIN
  INSERT INTO "a b" VALUES ("r", 2, "R", 4, 5, 6, 7, 8, 9);
  INSERT INTO "a_b" VALUES ("r" + 1, 5);
  SELECT "a b", "A_B", "größe" * 10 + "grüße", "_" INTO "R", "Q20", "int", " "
    FROM "a b" WHERE "a b" = "R" AND "A_B" = 4;
  UPDATE "a b" SET "tail\" = "x*/ int y; /*" + "tail\" WHERE "a_b" = "r";
  SELECT "tail\" INTO "r r" FROM "a b" WHERE "a_b" = "r";
  "r r" := "r r" * 1000 + "r__r" + "Q20" + "int" + " ";
END $$;
CREATE PROCEDURE "x(){} static int_y"("a" INT) LANGUAGE plpgsql AS $$
BEGIN DELETE FROM "a_b" WHERE "id\" = "a"; END $$;
)sql";

TEST(EmitterNames, AreNoCode) {
  std::string home = testing::TempDir() + "emitter_names_XXXXXX";
  ASSERT_NE(mkdtemp(home.data()), nullptr);
  const auto program = compile(kProgram, "names.sql");
  ASSERT_TRUE(program.ok()) << program.error().message;
  const Schema schema((*program)->catalog);
  const std::vector<NativeUnit> units = procedure_units(**program);
  const Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
  ASSERT_TRUE(toolchain.ok());
  NativeFolders folders;
  folders.keep = home + "/native";
  const Result<NativeCode> code =
      NativeCode::load(emit_cpp(**program, schema, units), units.size(), folders, *toolchain);
  ASSERT_TRUE(code.ok()) << code.error().message;
  const std::vector<Argument> arguments = {Argument::of(Value::of_int(1)), Argument::of(Value::of_int(3)),
                                           Argument::of(Value::of_int(0))};
  for (const bool native : {false, true}) {
    MapAccess rows(schema);
    RunRequest request = RunRequest::of((*program)->procedures[0], arguments, rows);
    request.native = native ? code->unit(0).run_on_any : nullptr;
    Interpreter interpreter(schema);
    const Outcome outcome = interpreter.run(request);
    ASSERT_TRUE(outcome.completed()) << outcome.message;
    EXPECT_EQ(interpreter.results()[0].scalar.as_int(), 3);
    EXPECT_EQ(interpreter.results()[1].scalar.as_int(), 17'000 + 3 + 4 + 56 + 7);
  }
  fs::remove_all(home);
}

}  // namespace
}  // namespace mneme
