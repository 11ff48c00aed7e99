// Goal: a statement that runs out of memory leaves no transaction open, and nothing claimed, locked or
// changed. Method: operator new fails at the first allocation of a statement, then at the second, and so on,
// until the statement succeeds. After each failure another session must see all rows as before or all as
// after, and be able to change each of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "engine/testing/test_database.h"
#include "procedures/session/sql_session.h"

namespace {

// How many allocations of this thread still succeed; negative: all.
thread_local int64_t allocations_left = -1;

void* allocate(size_t bytes) {
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate_or_throw(size_t bytes) {
  void* memory = allocate(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new[](size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace mneme {
namespace {

constexpr const char* kItemSql = R"sql(
CREATE TABLE item (id INT PRIMARY KEY, kind INT NOT NULL, note VARCHAR(60));
CREATE INDEX item_by_kind ON item (kind);
CREATE PROCEDURE add(p_id INT, INOUT r_count INT) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO item VALUES (p_id, 1, 'new');
  UPDATE item SET kind = kind + 1 WHERE kind = 1;
  DELETE FROM item WHERE id = 1;
  SELECT count(*) INTO r_count FROM item;
END $$;
)sql";

class OutOfMemoryTest : public testing::TestWithParam<const char*> {
 protected:
  struct Memory {
    explicit Memory(const Program& program)
        : database(program.catalog, 2),
          session(program, database, WorkerId{0}),
          other(program, database, WorkerId{1}) {
      database.attach_log(log, RecordContent::kLogical);
      for (int id = 1; id <= 20; ++id) {
        const std::string row = fmt::format("INSERT INTO item VALUES ({}, {}, 'n')", id, id % 3);
        EXPECT_TRUE(session.run(*parse_statement(row).command).ok());
      }
    }
    CountingLog log;
    Database database;
    SqlSession session;
    SqlSession other;
  };

  static std::string rows(SqlSession& session) {
    const StatementResult result =
        session.run(*parse_statement("SELECT id, kind, note FROM item ORDER BY id").command);
    EXPECT_TRUE(result.ok()) << result.message;
    std::string text;
    for (const auto& row : result.rows) text += *row[0] + "," + *row[1] + "," + *row[2] + " ";
    return text;
  }

  // False: the statement threw at its allocation number `succeeding`.
  static bool run(SqlSession& session, const syntax::Command& command, int64_t succeeding) {
    allocations_left = succeeding;
    try {
      const StatementResult result = session.run(command);
      allocations_left = -1;
      EXPECT_TRUE(result.ok()) << result.message;
      return true;
    } catch (const std::bad_alloc&) {
      allocations_left = -1;
      return false;
    }
  }

  const std::unique_ptr<Program> program_ = *compile(kItemSql, "item.sql");
};

TEST_P(OutOfMemoryTest, LeavesNoTransactionOpen) {
  const syntax::Command command = *parse_statement(GetParam()).command;
  std::string before;
  std::string after;
  {
    Memory memory(*program_);
    before = rows(memory.other);
    EXPECT_TRUE(run(memory.session, command, -1));
    after = rows(memory.other);
  }
  int64_t failures = 0;
  for (;; ++failures) {
    Memory memory(*program_);
    if (run(memory.session, command, failures)) break;
    const std::string left = rows(memory.other);
    ASSERT_TRUE(left == before || left == after) << left << " after allocation " << failures;
    ASSERT_TRUE(memory.other.run(*parse_statement("UPDATE item SET kind = 7, note = 'x'").command).ok());
    ASSERT_TRUE(memory.session.run(*parse_statement("BEGIN").command).ok());
    ASSERT_TRUE(memory.session.run(*parse_statement("DELETE FROM item").command).ok());
    ASSERT_EQ(memory.session.run(*parse_statement("COMMIT").command).tag, "COMMIT");
  }
  EXPECT_GT(failures, 10);
}

TEST_P(OutOfMemoryTest, FailsItsBlock) {
  const syntax::Command command = *parse_statement(GetParam()).command;
  for (int64_t failures = 0;; ++failures) {
    Memory memory(*program_);
    const std::string before = rows(memory.other);
    EXPECT_TRUE(memory.session.run(*parse_statement("BEGIN").command).ok());
    EXPECT_TRUE(
        memory.session.run(*parse_statement("INSERT INTO item VALUES (77, 7, 'seven')").command).ok());
    if (run(memory.session, command, failures)) break;
    ASSERT_EQ(memory.session.block(), SqlSession::Block::kFailed);
    ASSERT_EQ(rows(memory.other), before);
    ASSERT_EQ(memory.session.run(*parse_statement("COMMIT").command).tag, "ROLLBACK");
    ASSERT_TRUE(memory.other.run(*parse_statement("INSERT INTO item VALUES (77, 7, 'x')").command).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Statements, OutOfMemoryTest,
    testing::Values("INSERT INTO item VALUES (30, 5, 'long enough to be no short string, surely it is')",
                    "UPDATE item SET kind = kind + 10, note = note || 'x' WHERE kind = 1 RETURNING note",
                    "UPDATE item SET id = id + 100", "DELETE FROM item WHERE kind = 2",
                    "SELECT note FROM item WHERE kind = 1 ORDER BY note", "CALL add(50, 0)"));

}  // namespace
}  // namespace mneme
