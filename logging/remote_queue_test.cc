// Goal: a server that hangs while its machine lives, so that the network takes all and nothing comes back, is lost in time.
// Method: a server's process that is stopped, and a queue that bears little silence.
#include "logging/remote_queue.h"

#include <gtest/gtest.h>

#include "logging/block_format.h"
#include "logging/remote_options.h"
#include "logging/test_log.h"
#include "network/test_log_server.h"

namespace mneme {
namespace {

using test::must;

TEST(RemoteQueue, LosesAServerThatGivesNoAnswer) {
  test::ServerProcess server;
  const test::TemporaryDirectory directory;
  Manifest manifest = test::new_manifest();
  manifest.incarnations.push_back({.number = 1, .begin = kFirstLsn});
  const auto file = must(ManifestFile::create(directory.path(), manifest));
  std::filesystem::create_directory(directory.path() + "/" + kRemoteFolder);
  constexpr size_t kSegmentBytes = block_offset(3);
  RemoteSegments segments(*file, kSegmentBytes, /*files=*/3);
  RemoteQueueOptions options;
  options.servers.servers = {server.address()};
  options.servers.patience = std::chrono::milliseconds(5000);
  options.servers.hello.database_id = manifest.database_id;
  options.servers.hello.role = LogRole::kWriter;
  options.servers.hello.term = {1, 7};
  options.segment_bytes = kSegmentBytes;
  options.silence = std::chrono::milliseconds(200);
  const auto queue = must(RemoteQueue::open(options, segments));
  const int segment = queue->attach(must(segments.make(1, [] { return true; }))->handle);

  std::vector<std::byte> block(kBlockBytes);
  BlockHeader header;
  header.begin = kFirstLsn;
  header.incarnation = 1;
  header.segment = 1;
  header.encode(block.data());
  server.freeze();
  queue->submit({.tag = 1, .file = segment, .bytes = block, .offset = block_offset(0)});
  std::vector<IoCompletion> ended;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (ended.empty() && std::chrono::steady_clock::now() < deadline) {
    queue->wait(std::chrono::seconds(1), ended);
  }
  server.thaw();
  ASSERT_EQ(ended.size(), 1u) << "the chain waits for ever";
  EXPECT_EQ(ended[0].failure, IoCompletion::Failure::kWrite);
  EXPECT_NE(queue->failure()->message.find("no answer for 200 ms"), std::string::npos)
      << queue->failure()->message;
  EXPECT_FALSE(segments_in_memories(directory.path(), file->current()).size()) << "the copy was saved";
}

}  // namespace
}  // namespace mneme
