// Goal: every name of a log buffer makes that buffer, no other name makes one, and none is made that could
// not work. Method: names there and back, and options that are wrong.
#include "logging/buffer/log_buffer_factory.h"

#include <gtest/gtest.h>

#include <set>

#include "base/testing/test_refusal.h"
#include "logging/testing/test_buffer.h"

namespace mneme {
namespace {

TEST(LogBufferFactory, NamesAndKindsAgree) {
  std::set<std::string_view> names;
  for (const LogBufferKind kind : log_buffer_kinds()) {
    EXPECT_TRUE(names.insert(name_of(kind)).second);
    const Result<LogBufferKind> named = log_buffer_kind(name_of(kind));
    ASSERT_TRUE(named.ok());
    EXPECT_EQ(*named, kind);
    LogBufferOptions options;
    options.ring_bytes = 4096;
    options.largest_record_bytes = 100;
    const auto buffer = make_log_buffer(kind, options);
    EXPECT_EQ(test::append(*buffer, WorkerId{0}, 50), kFirstPosition);
    EXPECT_EQ(buffer->contiguous_prefix(), kFirstPosition + 50);
  }
  EXPECT_EQ(*log_buffer_kind("default"), kDefaultLogBuffer);
}

TEST(LogBufferFactory, RefusesOtherNamesAndTellsWhichThereAre) {
  const Result<LogBufferKind> none = log_buffer_kind("ring");
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message.find("watermark"), std::string::npos);
}

TEST(LogBufferFactory, RefusesAConsolidationArrayWithoutSlots) {
  LogBufferOptions options;
  options.tuning.slots = 0;
  test::expect_refused(check_options(LogBufferKind::kConsolidation, options), ErrorKind::kInvalidArgument,
                       "a consolidation array of 0 slots: it needs one at least");
}

}  // namespace
}  // namespace mneme
