// Shows what a log buffer does when three workers write at once: the buffer's own code over the stepping
// atomics of tests/interleaving, in one order of its steps, told line by line, with a picture of the log. One
// worker stops between reservation and fill, until the others have ended or wait for it.
//
// usage: log_buffer_steps [BUFFER [WORKER]]
//   default: watermark, and worker 0 stops; with `none` no worker does
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "logging/buffer/log_buffer_factory.h"
#include "tests/interleaving/scheduler.h"

namespace mneme {
namespace {

constexpr uint32_t kWorkers = 3;
constexpr uint32_t kBytes = 40;
constexpr uint64_t kBegin = 64;
// The steps of the present run; each run begins anew.
std::vector<std::string> told;

class ThreeAtOnce : public interleaving::Scenario {
 public:
  ThreeAtOnce(LogBufferKind kind, uint32_t stopped) : stopped_(stopped) {
    told.clear();
    LogBufferOptions options;
    options.workers = kWorkers;
    options.ring_bytes = 4096;
    options.largest_record_bytes = kBytes;
    options.begin = StreamPosition{kBegin};
    buffer_ = make_log_buffer(kind, options);
  }

  std::vector<std::function<void()>> threads() override {
    std::vector<std::function<void()>> threads{[this] { flush(); }};
    for (uint32_t w = 0; w < kWorkers; ++w) threads.push_back([this, w] { work(w); });
    return threads;
  }
  void examine() override {
    if (prefix_.value != kBegin + kWorkers * kBytes) violated("not all came out");
  }

 private:
  void work(uint32_t w) {
    const WorkerId worker{w};
    buffer_->await_space(worker);
    tell(fmt::format("worker {} begins to reserve {} bytes", w, kBytes));
    const StreamPosition position = buffer_->reserve(worker, kBytes);
    place(position) = static_cast<char>('a' + w);
    tell(fmt::format("worker {} has position {}", w, position.value));
    if (w == stopped_) {
      tell(fmt::format("worker {} is stopped", w));
      interleaving::stop();
      tell(fmt::format("worker {} goes on", w));
    }
    buffer_->write(worker, position, std::vector<std::byte>(kBytes, std::byte(w + 1)));
    place(position) = static_cast<char>('A' + w);
    tell(fmt::format("worker {} has written its record, and begins to publish it", w));
    buffer_->publish(worker, position, kBytes);
    tell(fmt::format("worker {} has published", w));
  }

  void flush() {
    while (prefix_.value < kBegin + kWorkers * kBytes) {
      const StreamPosition prefix = buffer_->contiguous_prefix();
      if (prefix == prefix_) {
        if (log_[2] != ' ') tell("the flusher looks, and may go no further");
        interleaving::wait_for_others();
        continue;
      }
      prefix_ = prefix;
      tell(fmt::format("the flusher may take all below position {}", prefix.value));
      buffer_->release(prefix);
    }
  }

  char& place(StreamPosition position) { return log_[(position.value - kBegin) / kBytes]; }
  void tell(const std::string& what) {
    const size_t taken = (prefix_.value - kBegin) / kBytes;
    std::string picture = "|";
    for (size_t i = 0; i < log_.size(); ++i) picture += {log_[i], i + 1 == taken ? '>' : '|'};
    told.push_back(fmt::format("{}   {}", picture, what));
  }

  const uint32_t stopped_;
  std::unique_ptr<LogBuffer> buffer_;
  StreamPosition prefix_{kBegin};
  // A record a place: blank; reserved: the worker's small letter; written: its capital.
  std::array<char, kWorkers> log_ = {' ', ' ', ' '};
};

int show(std::string_view name, uint32_t stopped) {
  const Result<LogBufferKind> kind = log_buffer_kind(name);
  if (!kind) return std::fprintf(stderr, "log_buffer_steps: %s\n", kind.error().message.c_str()), 2;
  const interleaving::Exploration exploration = interleaving::explore(
      [&] { return std::make_unique<ThreeAtOnce>(*kind, stopped); }, /*deviations=*/0, /*most_schedules=*/1);
  std::printf(
      "%s: a place holds a record; a small letter is reserved, a capital is written; > is as far as the "
      "flusher may go\n\n",
      std::string(name).c_str());
  for (const std::string& line : told) std::printf("%s\n", line.c_str());
  if (exploration.violation)
    return std::fprintf(stderr, "log_buffer_steps: %s\n", exploration.violation->c_str()), 1;
  return 0;
}

}  // namespace
}  // namespace mneme

int main(int argc, char** argv) {
  uint32_t stopped = argc > 2 ? mneme::kWorkers : 0;
  if (argc > 2) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), stopped);
  return mneme::show(argc > 1 ? argv[1] : "watermark", stopped);
}
