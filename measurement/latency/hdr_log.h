// HdrLog: latencies as an interval log of HdrHistogram, version 1.3, which its tools read and merge. A line
// is an interval and tag, with a histogram in the format V2, compressed, in base64 ("HIST...").
//
// Format      a V2 histogram is, in big-endian order: the cookie 0x1c849313, the length of the counts, a
//             normalizing offset, the significant digits, the lowest and the highest value that can be kept,
//             a ratio; then the counts up to the highest value's, each as a LEB128 number in zigzag order, in
//             which -n stands for n counts of 0. The compressed form is the cookie 0x1c849314, a length, and
//             all of this deflated by zlib.
// Units       values are nanoseconds. Times of a line are seconds since the log's start; its largest value,
//             for people, is in milliseconds, as HistogramLogWriter writes it.
// Threads     one owner.
// Source      http://hdrhistogram.org: HistogramLogWriter.java, AbstractHistogram.java (V2 encoding),
//             ZigZagEncoding.java.
#pragma once

#include <string>
#include <string_view>

#include "measurement/latency/hdr_histogram.h"

namespace mneme {

class HdrLog {
 public:
  // `started` is in seconds since 1970; `author` is the program that writes the log.
  HdrLog(double started, std::string_view author);

  // What has passed through intervals need not be added: a reader takes a gap for an interval without values.
  void add(std::string_view tag, double begin_seconds, double length_seconds, const HdrHistogram& histogram);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A histogram in the format V2, not compressed.
std::string hdr_bytes(const HdrHistogram& histogram);
// The same compressed, in base64.
std::string hdr_text(const HdrHistogram& histogram);

}  // namespace mneme
