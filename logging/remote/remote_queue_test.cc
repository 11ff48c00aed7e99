// Goal: a server that hangs while its machine lives, so that the network takes all and nothing comes back, is
// lost in time; and too few servers are none. Method: a server's process that is stopped, a queue that bears
// little silence, and ports where no server is.
#include "logging/remote/remote_queue.h"

#include <gtest/gtest.h>

#include "base/testing/test_refusal.h"
#include "logging/device/remote_options.h"
#include "logging/record/block_format.h"
#include "logging/testing/test_log.h"
#include "network/testing/test_log_server.h"

namespace mneme {
namespace {

using test::must;

constexpr size_t kSegmentBytes = block_offset(3);

class RemoteQueueTest : public ::testing::Test {
 protected:
  RemoteQueueTest() {
    Manifest manifest = test::new_manifest();
    manifest.incarnations.push_back({.number = 1, .begin = kFirstLsn});
    file_ = must(ManifestFile::create(directory_.path(), manifest));
    std::filesystem::create_directory(directory_.path() + "/" + kRemoteFolder);
    segments_.emplace(*file_, kSegmentBytes, /*files=*/3);
    options_.servers.servers = {server_.address()};
    options_.servers.patience = std::chrono::milliseconds(5000);
    options_.servers.hello.database_id = manifest.database_id;
    options_.servers.hello.role = LogRole::kWriter;
    options_.servers.hello.term = {1, 7};
    options_.segment_bytes = kSegmentBytes;
    options_.silence = std::chrono::milliseconds(200);
  }

  test::ServerProcess server_;
  const test::TemporaryDirectory directory_;
  std::unique_ptr<ManifestFile> file_;
  std::optional<RemoteSegments> segments_;
  RemoteQueueOptions options_;
};

TEST_F(RemoteQueueTest, IsNotOpenedWithTooFewServers) {
  for (const uint16_t nobodys : {1, 2}) options_.servers.servers.push_back({"127.0.0.1", nobodys});
  test::expect_refused(RemoteQueue::open(options_, *segments_), ErrorKind::kFailed,
                       "1 of 3 log servers can be written to, and 2 are needed: ");
}

TEST_F(RemoteQueueTest, NoSegmentIsMadeForALogThatEnds) {
  for (const uint32_t number : {1, 2, 3}) must(segments_->make(number, [] { return false; }));
  test::expect_refused(segments_->make(4, [] { return true; }), ErrorKind::kFailed,
                       "the log is being closed");
  RemoteSegments ended(*file_, kSegmentBytes, /*files=*/3);
  test::expect_error(ended.save_after("they are gone"), ErrorKind::kFailed,
                     "they are gone; the log was saved in the data directory");
  test::expect_refused(ended.make(5, [] { return false; }), ErrorKind::kFailed, "the log has ended");
}

TEST_F(RemoteQueueTest, LosesAServerThatGivesNoAnswer) {
  const auto queue = must(RemoteQueue::open(options_, *segments_));
  const int segment = queue->attach(must(segments_->make(1, [] { return true; }))->handle);

  std::vector<std::byte> block(kBlockBytes);
  BlockHeader header;
  header.begin = kFirstPosition;
  header.incarnation = 1;
  header.segment = 1;
  header.encode(block.data());
  server_.freeze();
  queue->submit({.tag = 1, .file = segment, .bytes = block, .offset = block_offset(0)});
  std::vector<IoCompletion> ended;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (ended.empty() && std::chrono::steady_clock::now() < deadline) {
    queue->wait(std::chrono::seconds(1), ended);
  }
  server_.thaw();
  ASSERT_EQ(ended.size(), 1u) << "the chain waits for ever";
  EXPECT_EQ(ended[0].failure, IoCompletion::Failure::kWrite);
  EXPECT_NE(queue->failure()->message.find("no answer for 200 ms"), std::string::npos)
      << queue->failure()->message;
  EXPECT_FALSE(segments_in_memories(directory_.path(), file_->current()).size()) << "the copy was saved";
}

}  // namespace
}  // namespace mneme
