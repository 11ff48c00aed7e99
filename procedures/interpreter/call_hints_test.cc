// Goal: a hint survives its encoding, is bounded, and no bytes at all can make its decoder do anything but
// decode or refuse. Method: notes are told and read back; a table of bytes that are no hint has the reason
// for each; a check is told keys inside and outside of a hint.
#include "procedures/interpreter/call_hints.h"

#include <gtest/gtest.h>

#include <array>

#include "base/testing/test_refusal.h"
#include "procedures/interpreter/call_codec.h"
#include "procedures/testing/test_program.h"

namespace mneme {
namespace {

constexpr OperationId kFirst{0};
constexpr OperationId kSecond{1};

// Its procedure has two operations.
const Program& program() {
  static const std::unique_ptr<Program> compiled =
      *compile(test_procedure("UPDATE entry SET note = 'x' WHERE account = p_id AND number = 1;\n"
                              "UPDATE entry SET note = 'y' WHERE account = p_id AND number = 2;"),
               "test.sql");
  return *compiled;
}

ToldProcedure told() {
  return {.body = {}, .operations = {kFirst, kSecond}};
}

std::vector<std::byte> bytes_of(std::initializer_list<int> bytes) {
  std::vector<std::byte> made;
  for (const int byte : bytes) made.push_back(static_cast<std::byte>(byte));
  return made;
}

ByteBuffer call_of_nulls() {
  Call call{ProcedureId{0}, std::vector<Argument>(argument_count(program().procedures[0]))};
  ByteBuffer bytes;
  encode_call(program(), call, bytes);
  return bytes;
}

// What is wrong with a call that these bytes follow.
std::string refusal_of_hint(ByteSpan hint) {
  ByteBuffer bytes = call_of_nulls();
  bytes.put_bytes(hint);
  Arena arena;
  Call call;
  const Result<void> decoded = decode_call(program(), bytes.span(), arena, call);
  if (decoded.ok()) return "";
  EXPECT_EQ(decoded.error().kind, ErrorKind::kDamaged);
  const std::string expected =
      fmt::format("a call of p is followed by {} bytes that are no hint: it ", hint.size());
  EXPECT_TRUE(decoded.error().message.starts_with(expected)) << decoded.error().message;
  return decoded.error().message.substr(expected.size());
}

TEST(CallHints, NotesAreReadBack) {
  const ToldProcedure procedure = told();
  HintNotes notes;
  notes.begin(procedure);
  EXPECT_TRUE(notes.tell(kSecond, std::array{Value::of_int(500), Value::of_text("ab")}));
  notes.begin(procedure);  // another attempt
  EXPECT_TRUE(notes.tell(kSecond, std::array{Value::of_int(-7), Value::of_text("c")}));
  EXPECT_TRUE(notes.tell(kSecond, std::array{Value::of_int(-7), Value::of_text("d")}));
  EXPECT_TRUE(notes.tell(kSecond, std::array{Value::of_int(-7), Value::of_text("c")}));
  EXPECT_TRUE(notes.tell(kSecond, std::array{Value::null(), Value::of_text("c")}));
  ByteBuffer bytes = call_of_nulls();
  const size_t before = bytes.size();
  const size_t encoded = notes.encode(bytes);
  EXPECT_EQ(encoded, bytes.size() - before);

  Arena arena;
  Call call;
  ASSERT_TRUE(decode_call(program(), bytes.span(), arena, call).ok());
  ASSERT_EQ(call.hints.size(), 2u);
  EXPECT_EQ(call.hints[0].operation, kFirst);
  EXPECT_TRUE(call.hints[0].keys.empty());
  EXPECT_EQ(find_hint(call.hints, kSecond), &call.hints[1]);
  EXPECT_EQ(find_hint(call.hints, OperationId{2}), nullptr);
  ASSERT_EQ(call.hints[1].keys.size(), 4u);
  const ir::Procedure& printed = program().procedures[0];
  EXPECT_EQ(print_hint(printed, call.hints[0]), "line 2: none");
  EXPECT_EQ(print_hint(printed, call.hints[1]), "line 3: (-7, 'c'), (-7, 'd')");

  ByteBuffer plain = call_of_nulls();
  ASSERT_TRUE(decode_call(program(), plain.span(), arena, call).ok());
  EXPECT_TRUE(call.hints.empty());
}

// docs/log_format.md has these bytes.
TEST(CallHints, TheFormatsExampleIsThis) {
  const std::array keys = {Value::of_int(500)};
  const std::array hints = {CallHint{kSecond, 1, keys}};
  ByteBuffer bytes;
  encode_hints(hints, bytes);
  EXPECT_TRUE(std::ranges::equal(bytes.span(), bytes_of({0x01, 0x01, 0x01, 0x00, 0xe8, 0x07})));
}

TEST(CallHints, WhatIsTooMuchIsNoHint) {
  const ToldProcedure procedure = told();
  HintNotes notes;
  const auto bytes_of_hint = [&] {
    ByteBuffer bytes;
    const size_t encoded = notes.encode(bytes);
    EXPECT_EQ(encoded, bytes.size());
    return encoded;
  };
  notes.begin(procedure);
  for (size_t i = 0; i < kMostHintKeys; ++i)
    EXPECT_TRUE(notes.tell(kFirst, std::array{Value::of_int(static_cast<int64_t>(i))}));
  EXPECT_EQ(bytes_of_hint(), 6 + kMostHintKeys);
  EXPECT_TRUE(notes.tell(kFirst, std::array{Value::of_int(-1)}));
  EXPECT_EQ(bytes_of_hint(), 0u);

  notes.begin(procedure);
  const std::string text(kMostHintBytes - 10, 'x');
  EXPECT_TRUE(notes.tell(kFirst, std::array{Value::of_text(text)}));
  EXPECT_GT(bytes_of_hint(), text.size());
  EXPECT_TRUE(notes.tell(kFirst, std::array{Value::of_text("another")}));
  EXPECT_EQ(bytes_of_hint(), 0u);
}

TEST(CallHints, BytesThatAreNoHintAreRefused) {
  const auto refusal = [](std::initializer_list<int> bytes) { return refusal_of_hint(bytes_of(bytes)); };
  EXPECT_EQ(refusal({1, 1, 1, 0, 8}), "");
  EXPECT_EQ(refusal({1, 1, 0}), "");
  EXPECT_EQ(refusal({0}), "has none of its operations, or too many");
  EXPECT_EQ(refusal({65}), "has none of its operations, or too many");
  EXPECT_EQ(refusal({1}), "ends early");
  EXPECT_EQ(refusal({1, 1, 1, 0}), "ends early");
  EXPECT_EQ(refusal({1, 1, 1, 1, 9, 'a'}), "ends early");
  EXPECT_EQ(refusal({1, 2, 0}), "names an operation that the procedure has not");
  EXPECT_EQ(refusal({2, 1, 0, 0, 0}), "has operations out of order");
  EXPECT_EQ(refusal({2, 1, 0, 1, 0}), "has operations out of order");
  EXPECT_EQ(refusal({1, 1, 65}), "has too many keys");
  EXPECT_EQ(refusal({2, 0, 40, 0, 1, 40}), "ends early");
  EXPECT_EQ(refusal({1, 1, 0xff, 0xff, 0xff, 0xff, 0x0f}), "has too many keys");
  EXPECT_EQ(refusal({1, 1, 1, 2, 0}), "has a column of no known kind");
  EXPECT_EQ(refusal({1,    1,    1,    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                     0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}),
            "has keys of too many columns");
  EXPECT_EQ(refusal({1, 1, 1, 1, 1, 0xff}), "has text that is not valid UTF-8, or has a zero byte");
  EXPECT_EQ(refusal({1, 1, 1, 0, 0x88, 0}), "has a number in too many bytes");
  EXPECT_EQ(refusal({1, 1, 1, 0, 8, 8}), "goes on behind its end");
  EXPECT_EQ(refusal_of_hint(std::vector<std::byte>(kMostHintBytes + 1)), "has too many bytes");
}

TEST(CallHints, ACheckRefusesKeysOutsideOfTheHint) {
  const std::array keys = {Value::of_int(1), Value::of_text("a"), Value::of_int(2), Value::of_text("b")};
  const std::array hints = {CallHint{kFirst, 2, keys}, CallHint{kSecond}};
  HintCheck check;
  check.use(hints);
  EXPECT_TRUE(check.tell(kFirst, std::array{Value::of_int(1), Value::of_text("a")}));
  EXPECT_TRUE(check.tell(kFirst, std::array{Value::of_int(2), Value::of_text("b")}));
  EXPECT_FALSE(check.tell(kFirst, std::array{Value::of_int(1), Value::of_text("b")}));
  EXPECT_FALSE(check.tell(kFirst, std::array{Value::of_int(1)}));
  EXPECT_FALSE(check.tell(kFirst, std::array{Value::of_text("1"), Value::of_text("a")}));
  EXPECT_FALSE(check.tell(kSecond, std::array{Value::of_int(1)}));
  EXPECT_TRUE(check.tell(kSecond, std::array{Value::null()})) << "it finds no row";
  EXPECT_TRUE(check.tell(OperationId{2}, std::array{Value::of_int(1)})) << "the record lists none";
}

}  // namespace
}  // namespace mneme
