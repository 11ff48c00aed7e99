// Goal: a newcomer adds a log buffer by two files and one line of the table, and a log device likewise.
// Method: ticket_buffer and counting_device are two files each; this program is compiled with their lines at
// the end of the tables, and nothing else is changed. Then both are found by their names, and make a log.
#include <gtest/gtest.h>

#include <filesystem>

#include "logging/buffer/log_buffer_factory.h"
#include "logging/device/log_device_kind.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

TEST(AddingOne, ALogBufferAndALogDeviceTakeTwoFilesAndALineEach) {
  DurableLogOptions options = small_log();
  options.buffer = must(log_buffer_kind("ticket"));
  options.device = must(log_device_kind("counting"));
  EXPECT_EQ(log_buffer_kinds().back(), options.buffer);
  EXPECT_EQ(name_of(options.device), "counting");
  EXPECT_NE(log_device_help().find("counting: counts its bytes"), std::string::npos);

  const TemporaryDirectory directory;
  OpenLog opened = open_for_work(directory.path(), options);
  Lsn last;
  for (int record = 0; record < 1000; ++record)
    last = append(*opened.log, WorkerId{0}, payload_of(record, 100));
  ASSERT_TRUE(opened.log->wait_durable(last));
  EXPECT_GE(opened.log->counters().device.device_bytes, 1000u * 100);
}

}  // namespace
}  // namespace mneme
