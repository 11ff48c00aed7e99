// Goal: a log holds what was recorded, in HdrHistogram's format.
//
// Method: the bytes of a small histogram against those that another implementation made of it; random
// histograms through a decoder that was written after the format's description, and shares no code with the
// encoder.
#include "measurement/latency/hdr_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

namespace mneme {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char each : bytes) {
    constexpr char kHexDigits[] = "0123456789abcdef";
    text += kHexDigits[static_cast<uint8_t>(each) >> 4];
    text += kHexDigits[each & 15];
  }
  return text;
}

std::string without_base64(std::string_view text) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char each : text) {
    if (each == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(alphabet.find(each));
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8));
  }
  return bytes;
}

class HdrReader {
 public:
  explicit HdrReader(std::string bytes) : bytes_(std::move(bytes)) {}

  uint64_t number(int bytes) {
    uint64_t number = 0;
    while (bytes-- > 0) number = number * 256 + byte();
    return number;
  }
  int64_t zigzag() {
    uint64_t number = 0;
    for (int i = 0; i < 9; ++i) {
      const uint64_t next = byte();
      number |= (i == 8 ? next : next & 0x7f) << (7 * i);
      if (i < 8 && next < 0x80) break;
    }
    return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
  }
  size_t left() const { return bytes_.size() - at_; }
  std::string rest() const { return bytes_.substr(at_); }

 private:
  uint8_t byte() { return static_cast<uint8_t>(bytes_.at(at_++)); }

  std::string bytes_;
  size_t at_ = 0;
};

// The counts by the lowest value that is counted with them, for 256 sub-buckets and a lowest value of 1.
std::map<uint64_t, uint64_t> decoded(const std::string& text) {
  HdrReader outer(without_base64(text));
  EXPECT_EQ(outer.number(4), 0x1c849314u);
  const uint64_t deflated_bytes = outer.number(4);
  EXPECT_EQ(deflated_bytes, outer.left());
  std::string inflated(1 << 20, '\0');
  uLongf length = inflated.size();
  const std::string deflated = outer.rest();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(inflated.data()), &length,
                       reinterpret_cast<const Bytef*>(deflated.data()), deflated.size()),
            Z_OK);
  inflated.resize(length);
  HdrReader reader(inflated);
  EXPECT_EQ(reader.number(4), 0x1c849313u);
  const uint64_t bytes = reader.number(4);
  EXPECT_EQ(reader.number(4), 0u);
  EXPECT_EQ(reader.number(4), 2u);
  EXPECT_EQ(reader.number(8), 1u);
  EXPECT_GE(reader.number(8), 3'600'000'000'000u);
  EXPECT_EQ(reader.number(8), 0x3ff0000000000000u);
  EXPECT_EQ(reader.left(), bytes);
  std::map<uint64_t, uint64_t> counts;
  uint64_t index = 0;
  while (reader.left() > 0) {
    const int64_t count = reader.zigzag();
    if (count < 0) {
      index += static_cast<uint64_t>(-count);
      continue;
    }
    const uint64_t bucket = index < 256 ? 0 : index / 128 - 1;
    const uint64_t sub = index < 256 ? index : index % 128 + 128;
    counts[sub << bucket] = static_cast<uint64_t>(count);
    ++index;
  }
  return counts;
}

// What PyPI's hdrhistogram 0.10.3 makes of HdrHistogram(1, 3600000000000, 2) with these values.
TEST(HdrLog, IsByteForByteWhatOthersWrite) {
  HdrHistogram histogram;
  for (const auto& [value, times] :
       std::map<uint64_t, int>{{1, 1}, {2, 3}, {5, 200}, {100, 1}, {300, 70'000}, {1'000'000, 2}}) {
    for (int i = 0; i < times; ++i) histogram.record(value);
  }
  EXPECT_EQ(hex_of(hdr_bytes(histogram)),
            "1c849313000000110000000000000002000000000000000100000346"
            "30b8a0003ff0000000000000010206039003bb0102e102e0c508b91704");
}

TEST(HdrLog, AnEmptyHistogramHasNoCounts) {
  EXPECT_TRUE(decoded(hdr_text({})).empty());
}

TEST(HdrLog, HoldsEveryCount) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    HdrHistogram histogram;
    std::map<uint64_t, uint64_t> wanted;
    for (int i = 0; i < 2000; ++i) {
      const uint64_t value = random() >> (random() % 64);
      histogram.record(value);
      const size_t bucket = HdrHistogram::bucket_of(value);
      ++wanted[bucket == 0 ? 0 : HdrHistogram::upper_bound(bucket - 1) + 1];
    }
    EXPECT_EQ(decoded(hdr_text(histogram)), wanted);
  }
}

TEST(HdrLog, HasAHeadAndALineAnInterval) {
  HdrLog log(1'700'000'000.25, "mneme 1.2");
  HdrHistogram histogram;
  histogram.record(2'769'000);
  log.add("pay, and \"go\"", 0, 1, histogram);
  log.add("buy", 1, 0.5, histogram);
  std::istringstream lines(log.text());
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) found.push_back(line);
  ASSERT_EQ(found.size(), 7u);
  EXPECT_EQ(found[0], "#[Logged with mneme 1.2]");
  EXPECT_EQ(found[1], "#[Histogram log format version 1.3]");
  EXPECT_EQ(found[2], "#[StartTime: 1700000000.250 (seconds since epoch), 2023-11-14T22:13:20Z]");
  EXPECT_THAT(found[5], StartsWith("Tag=pay__and_\"go\",0.000,1.000,2.769,HISTFAAAA"));
  EXPECT_THAT(found[6], StartsWith("Tag=buy,1.000,0.500,2.769,HISTFAAAA"));
  EXPECT_EQ(decoded(found[6].substr(found[6].find("HIST"))).size(), 1u);
}

}  // namespace
}  // namespace mneme
