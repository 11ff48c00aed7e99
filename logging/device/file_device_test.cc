// Goal: durable is the end of the longest prefix of completed chains, whatever order they end in; a failed
// chain holds back all after it; records are never split between chains. Method: an IoQueue that ends chains
// when the test says.
#include "logging/device/file_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "logging/buffer/watermark_buffer.h"
#include "logging/record/record_format.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

class ScriptedQueue : public IoQueue {
 public:
  Result<void> register_memory(std::span<std::byte>) override { return failed("nobody may lock memory"); }
  int attach(int descriptor) override {
    attached.insert(descriptor);
    return descriptor;
  }
  void detach(int file) override { EXPECT_EQ(attached.erase(file), 1u); }
  void submit(const IoChain& chain) override { submitted.push_back(chain); }
  void wait(std::chrono::nanoseconds, std::vector<IoCompletion>& ended) override {
    ended.insert(ended.end(), to_end.begin(), to_end.end());
    to_end.clear();
  }
  void wake() override {}
  void end(size_t chain, IoCompletion::Failure failure = IoCompletion::Failure::kNone, int error_number = 0) {
    to_end.push_back({submitted[chain].tag, failure, error_number});
  }

  std::set<int> attached;
  std::vector<IoChain> submitted;
  std::vector<IoCompletion> to_end;
};

class FileDeviceTest : public ::testing::Test {
 protected:
  FileDeviceTest() : buffer_({.workers = 1, .ring_bytes = 64 * 1024, .largest_record_bytes = 16 * 1024}) {
    manifest_ = must(ManifestFile::create(directory_.path(), new_manifest()));
    must(begin_incarnation(*manifest_, LogContents{}));
    open({""});
  }
  void open(std::vector<std::string> directories) {
    device_.reset();
    auto queue = std::make_unique<ScriptedQueue>();
    queue_ = queue.get();
    FileDeviceOptions options;
    options.segment_bytes = 64 * 1024;
    options.largest_record_bytes = 16 * 1024;
    options.unit_bytes = 16 * 1024;
    options.chains = 3;
    options.direct_io = false;
    options.directories = std::move(directories);
    device_ = must(FileDevice::open(*manifest_, std::move(queue), options));
  }
  // Puts a record into the buffer; returns its end.
  StreamPosition put(size_t record_bytes) {
    const StreamPosition at = buffer_.reserve(WorkerId{0}, record_bytes);
    std::byte header[kRecordHeaderBytes];
    RecordHeader{0, static_cast<uint32_t>(record_bytes), RecordKind::kCommand, one_stream_lsn(at)}.encode(
        header);
    buffer_.write(WorkerId{0}, at, header);
    buffer_.publish(WorkerId{0}, at, record_bytes);
    return at + record_bytes;
  }
  StreamPosition wait() { return device_->wait(std::chrono::nanoseconds(0)); }

  TemporaryDirectory directory_;
  WatermarkBuffer buffer_;
  std::unique_ptr<ManifestFile> manifest_;
  ScriptedQueue* queue_;
  std::unique_ptr<FileDevice> device_;
};

TEST_F(FileDeviceTest, DurableIsThePrefixOfCompletedChains) {
  StreamPosition ends[4] = {kFirstPosition};
  for (int i = 1; i <= 3; ++i) {
    ends[i] = put(1000);
    EXPECT_EQ(device_->append(buffer_, ends[i - 1], ends[i]), ends[i]);
  }
  const StreamPosition fourth = put(1000);
  EXPECT_EQ(device_->append(buffer_, ends[3], fourth), ends[3]);  // no chain is free
  queue_->end(2);
  EXPECT_EQ(wait(), kFirstPosition);
  queue_->end(0);
  EXPECT_EQ(wait(), ends[1]);
  queue_->end(1);
  EXPECT_EQ(wait(), ends[3]);
  EXPECT_EQ(device_->append(buffer_, ends[3], fourth), fourth);
  EXPECT_EQ(device_->counters().flushes, 4u);
  for (const IoChain& chain : queue_->submitted) EXPECT_EQ(chain.durability, IoChain::Durability::kSync);
}

TEST_F(FileDeviceTest, AFailedChainHoldsBackAllAfterIt) {
  const StreamPosition first = put(1000);
  EXPECT_EQ(device_->append(buffer_, kFirstPosition, first), first);
  const StreamPosition second = put(1000);
  EXPECT_EQ(device_->append(buffer_, first, second), second);
  queue_->end(1);
  queue_->end(0, IoCompletion::Failure::kSync, EIO);
  EXPECT_EQ(wait(), kFirstPosition);
  ASSERT_TRUE(device_->failure().has_value());
  EXPECT_NE(device_->failure()->message.find("cannot sync"), std::string::npos);
  EXPECT_NE(device_->failure()->message.find("Input/output error"), std::string::npos);
  const StreamPosition third = put(1000);
  EXPECT_EQ(device_->append(buffer_, second, third),
            second);  // nothing is taken any more, nothing tried again
  EXPECT_EQ(queue_->submitted.size(), 2u);
}

TEST_F(FileDeviceTest, SaysWhichWriteFellShort) {
  const StreamPosition first = put(1000);
  EXPECT_EQ(device_->append(buffer_, kFirstPosition, first), first);
  queue_->end(0, IoCompletion::Failure::kShortWrite);
  EXPECT_EQ(wait(), kFirstPosition);
  ASSERT_TRUE(device_->failure().has_value());
  EXPECT_NE(device_->failure()->message.find("log-000001.segment at byte 4096 fell short"),
            std::string::npos);
}

TEST_F(FileDeviceTest, TakesWholeRecordsAndPadsToBlocks) {
  // A chain holds 16 KiB of blocks, so 16,192 payload bytes: two of three records.
  put(7000);
  const StreamPosition second = put(7000);
  const StreamPosition third = put(7000);
  EXPECT_EQ(device_->append(buffer_, kFirstPosition, third), second);
  ASSERT_EQ(queue_->submitted.size(), 1u);
  EXPECT_EQ(queue_->submitted[0].bytes.size(), 4 * kBlockBytes);
  EXPECT_EQ(device_->append(buffer_, second, third), third);
  EXPECT_EQ(queue_->submitted[1].offset, 5 * kBlockBytes);  // never a block again
  EXPECT_EQ(queue_->submitted[1].bytes.size(), 2 * kBlockBytes);
  const auto block = BlockHeader::decode(queue_->submitted[0].bytes.subspan(kBlockBytes, kBlockBytes));
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->begin, kFirstPosition + kBlockPayloadBytes);
  EXPECT_EQ(block->index, 1u);
  EXPECT_TRUE(block->payload_is_intact(queue_->submitted[0].bytes.subspan(kBlockBytes, kBlockBytes)));
}

TEST_F(FileDeviceTest, StripesTakeChainsInTurns) {
  std::filesystem::create_directory(directory_.path() + "/left");
  std::filesystem::create_directory(directory_.path() + "/right");
  open({"left", "right"});
  StreamPosition at = kFirstPosition;
  for (int i = 0; i < 3; ++i) {
    const StreamPosition end = put(1000);
    EXPECT_EQ(device_->append(buffer_, at, end), end);
    at = end;
  }
  ASSERT_EQ(queue_->submitted.size(), 3u);
  EXPECT_NE(queue_->submitted[0].file, queue_->submitted[1].file);
  EXPECT_EQ(queue_->submitted[0].file, queue_->submitted[2].file);
  EXPECT_EQ(queue_->submitted[0].offset, queue_->submitted[1].offset);
  queue_->end(2);
  queue_->end(0);
  EXPECT_LT(wait(), at);  // the other stripe's chain comes before
  queue_->end(1);
  EXPECT_EQ(wait(), at);
}

TEST_F(FileDeviceTest, SaysThatMemoryCouldNotBeRegistered) {
  ASSERT_EQ(device_->notices().size(), 1u);
  EXPECT_NE(device_->notices()[0].find("nobody may lock memory"), std::string::npos);
}

TEST_F(FileDeviceTest, ASegmentIsListedBeforeItsFirstRecord) {
  StreamPosition at = kFirstPosition;
  uint32_t last_descriptor_changes = 0;
  int descriptor = -1;
  while (last_descriptor_changes < 3) {
    const StreamPosition end = put(7000);
    while (device_->append(buffer_, at, end) == at)
      std::this_thread::yield();  // until the next segment is ready
    at = end;
    buffer_.release(at);
    const IoChain& chain = queue_->submitted.back();
    const auto block = BlockHeader::decode(chain.bytes.first(kBlockBytes));
    ASSERT_TRUE(block.has_value());
    const Manifest manifest = must(read_manifest(directory_.path()));
    EXPECT_TRUE(
        std::ranges::any_of(manifest.segments, [&](const auto& s) { return s.number == block->segment; }));
    if (chain.file != descriptor) ++last_descriptor_changes;
    descriptor = chain.file;
    queue_->end(queue_->submitted.size() - 1);
    EXPECT_EQ(wait(), at);
    EXPECT_EQ(queue_->attached.size(), 1u);  // of the segment in use
  }
}

}  // namespace
}  // namespace mneme
