#include "measurement/latency/hdr_log.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <ctime>
#include <type_traits>

#include "base/check.h"
#include "measurement/machine/host.h"

namespace mneme {
namespace {

constexpr uint32_t kCookie = 0x1c849313;
constexpr uint32_t kCompressedCookie = 0x1c849314;
constexpr uint32_t kSignificantDigits = 2;
// Readers allocate counts up to the highest value. An hour is what HdrHistogram's own examples take.
constexpr uint64_t kUsualHighest = 3'600'000'000'000;

template <typename Number>
void append_number(std::string& bytes, Number number) {
  using Bits = std::make_unsigned_t<Number>;
  for (int shift = 8 * (sizeof(Number) - 1); shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<Bits>(number) >> shift);
}

// 7 bits a byte, the low ones first, a set high bit if more follow; a ninth byte has 8 bits and is the last.
void append_zigzag(std::string& bytes, int64_t number) {
  uint64_t left = (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
  for (int i = 0; i < 8; ++i) {
    if (left < 0x80) {
      bytes += static_cast<char>(left);
      return;
    }
    bytes += static_cast<char>((left & 0x7f) | 0x80);
    left >>= 7;
  }
  bytes += static_cast<char>(left);
}

std::string base64_of(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 0x3f];
  }
  return text;
}

// A tag ends at a comma; a name in quotes could have one, or white space.
std::string tag_text(std::string_view tag) {
  std::string text(tag);
  std::ranges::replace_if(
      text, [](unsigned char each) { return each == ',' || each <= ' '; }, '_');
  return text;
}

}  // namespace

std::string hdr_bytes(const HdrHistogram& histogram) {
  std::string counts;
  const size_t end = HdrHistogram::bucket_of(histogram.max()) + 1;
  for (size_t i = 0; i < end;) {
    size_t next = i;
    while (next < end && histogram.count_in(next) == 0) ++next;
    if (next > i) {
      append_zigzag(counts, -static_cast<int64_t>(next - i));
      i = next;
    } else {
      append_zigzag(counts, static_cast<int64_t>(histogram.count_in(i++)));
    }
  }
  std::string bytes;
  append_number(bytes, kCookie);
  append_number(bytes, static_cast<uint32_t>(counts.size()));
  append_number(bytes, uint32_t{0});
  append_number(bytes, kSignificantDigits);
  append_number(bytes, uint64_t{1});
  append_number(bytes, std::max(kUsualHighest, histogram.max()));
  append_number(bytes, std::bit_cast<uint64_t>(1.0));
  return bytes + counts;
}

std::string hdr_text(const HdrHistogram& histogram) {
  const std::string bytes = hdr_bytes(histogram);
  uLongf length = compressBound(bytes.size());
  std::string deflated(length, '\0');
  // It can fail for want of memory or of room alone, and has room for anything.
  CHECK(compress(reinterpret_cast<Bytef*>(deflated.data()), &length,
                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  deflated.resize(length);
  std::string whole;
  append_number(whole, kCompressedCookie);
  append_number(whole, static_cast<uint32_t>(deflated.size()));
  return base64_of(whole + deflated);
}

HdrLog::HdrLog(double started, std::string_view author)
    : text_(fmt::format("#[Logged with {0}]\n"
                        "#[Histogram log format version 1.3]\n"
                        "#[StartTime: {1:.3f} (seconds since epoch), {2}]\n"
                        "#[BaseTime: {1:.3f} (seconds since epoch)]\n"
                        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
                        "Histogram\"\n",
                        author, started, utc_text(static_cast<std::time_t>(started)))) {}

void HdrLog::add(std::string_view tag, double begin_seconds, double length_seconds,
                 const HdrHistogram& histogram) {
  text_ += fmt::format("Tag={},{:.3f},{:.3f},{:.3f},{}\n", tag_text(tag), begin_seconds, length_seconds,
                       static_cast<double>(histogram.max()) / 1e6, hdr_text(histogram));
}

}  // namespace mneme
