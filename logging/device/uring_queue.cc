#include "logging/device/uring_queue.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace mneme {

namespace {

constexpr unsigned kFileSlots = 128;
// The caller fills the next such chain for longer than a system call takes, and the device should not idle
// meanwhile.
constexpr size_t kSubmittedAtOnceBytes = size_t{64} << 10;
// So many completions end a wait, whatever it waits for: a wake must make as many as a chain does.
constexpr int kWakePolls = 2;
// How long the kernel looks for requests in vain before it sleeps.
constexpr unsigned kPollIdleMilliseconds = 10;

// A request's user data: its chain's tag and which step it is.
constexpr uint64_t user_data(uint64_t tag, uint64_t step) {
  return tag << 2 | step;
}

}  // namespace

// Completions are taken by a thread that waits for them, so it needs no interrupt to run them. Older kernels
// don't know the flag.
int UringQueue::open_ring() {
  const unsigned entries = 2 * options_.depth + kWakePolls;
  if (options_.polled) {
    io_uring_params parameters{};
    parameters.flags = IORING_SETUP_SQPOLL;
    parameters.sq_thread_idle = kPollIdleMilliseconds;
    return io_uring_queue_init_params(entries, &ring_, &parameters);
  }
  const int status = io_uring_queue_init(entries, &ring_, IORING_SETUP_COOP_TASKRUN);
  return status == -EINVAL ? io_uring_queue_init(entries, &ring_, 0) : status;
}

Result<std::unique_ptr<UringQueue>> UringQueue::open(const UringOptions& options) {
  std::unique_ptr<UringQueue> queue(new UringQueue(options));
  if (const int status = queue->open_ring(); status < 0) {
    return failed("io_uring is not available: {}", std::strerror(-status));
  }
  queue->ring_is_open_ = true;
  queue->in_child_ = std::make_unique<ClosedInChild>(queue->ring_.ring_fd);
  io_uring_ring_dontfork(&queue->ring_);
  queue->wake_descriptor_ = keep_off_standard_streams(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (queue->wake_descriptor_ < 0) return failed("cannot make an eventfd: {}", std::strerror(errno));
  if (options.registers_files && io_uring_register_files_sparse(&queue->ring_, kFileSlots) == 0) {
    queue->file_slots_.resize(kFileSlots);
  }
  for (int i = 0; i < kWakePolls; ++i) queue->poll_for_wakes();
  return queue;
}

UringQueue::~UringQueue() {
  // The kernel may still read the buffers of chains in flight: their owner frees those after this.
  std::vector<IoCompletion> ended;
  while (!in_flight_.empty()) wait(std::chrono::milliseconds(100), ended);
  in_child_.reset();
  if (ring_is_open_) io_uring_queue_exit(&ring_);
  if (wake_descriptor_ >= 0) ::close(wake_descriptor_);
}

Result<void> UringQueue::register_memory(std::span<std::byte> memory) {
  if (!options_.registers_memory) return {};
  const iovec whole{memory.data(), memory.size()};
  if (const int status = io_uring_register_buffers(&ring_, &whole, 1); status < 0) {
    return failed(
        "the log's {} bytes of buffers can't be registered with the system ({}; `ulimit -l` bounds them)",
        memory.size(), std::strerror(-status));
  }
  memory_ = memory;
  return {};
}

bool UringQueue::is_registered(ByteSpan bytes) const {
  return bytes.data() >= memory_.data() && bytes.data() + bytes.size() <= memory_.data() + memory_.size();
}

int UringQueue::attach(int descriptor) {
  if (!registers_files()) return descriptor;
  const auto free = std::find(file_slots_.begin(), file_slots_.end(), false);
  CHECK(free != file_slots_.end());
  const auto slot = static_cast<unsigned>(free - file_slots_.begin());
  CHECK(io_uring_register_files_update(&ring_, slot, &descriptor, 1) == 1);
  *free = true;
  return static_cast<int>(slot);
}

void UringQueue::detach(int file) {
  if (!registers_files()) return;
  const int none = -1;
  CHECK(io_uring_register_files_update(&ring_, static_cast<unsigned>(file), &none, 1) == 1);
  file_slots_[static_cast<size_t>(file)] = false;
}

io_uring_sqe* UringQueue::next_request(uint64_t tag, Step step) {
  io_uring_sqe* request = io_uring_get_sqe(&ring_);
  CHECK(request != nullptr);  // sized for every chain and the poll
  prepared_.push_back({request, tag, step});
  return request;
}

void UringQueue::name_file(io_uring_sqe* request, int file) const {
  request->fd = file;
  if (registers_files()) request->flags |= IOSQE_FIXED_FILE;
}

void UringQueue::prepare_sync(uint64_t tag, int file) {
  io_uring_sqe* sync = next_request(tag, kSyncStep);
  io_uring_prep_fsync(sync, file, IORING_FSYNC_DATASYNC);
  name_file(sync, file);
  sync->user_data = user_data(tag, kSyncStep);
}

void UringQueue::poll_for_wakes() {
  io_uring_sqe* request = next_request(0, kWakeStep);
  io_uring_prep_poll_add(request, wake_descriptor_, POLLIN);
  request->user_data = kWakeStep;
}

void UringQueue::take_wakes() {
  uint64_t count;
  // Nothing to read is right, too: two wakes may be taken as one.
  [[maybe_unused]] const ssize_t bytes = ::read(wake_descriptor_, &count, sizeof count);
  poll_for_wakes();
}

void UringQueue::submit(const IoChain& chain) {
  InFlight& entry = in_flight_[chain.tag];
  CHECK(entry.steps == 0);
  const bool syncs = chain.durability == IoChain::Durability::kSync;
  entry.file = chain.file;
  entry.bytes = chain.bytes.size();
  entry.sync_after_write = syncs && options_.polled;
  entry.steps = syncs ? 2 : 1;
  entry.result = {chain.tag, IoCompletion::Failure::kNone, 0};
  io_uring_sqe* write = next_request(chain.tag, kWriteStep);
  const auto bytes = static_cast<unsigned>(chain.bytes.size());
  if (is_registered(chain.bytes)) {
    io_uring_prep_write_fixed(write, chain.file, chain.bytes.data(), bytes, chain.offset, 0);
  } else {
    io_uring_prep_write(write, chain.file, chain.bytes.data(), bytes, chain.offset);
  }
  name_file(write, chain.file);
  if (chain.durability == IoChain::Durability::kWriteThrough) write->rw_flags = RWF_DSYNC;
  write->user_data = user_data(chain.tag, kWriteStep);
  if (syncs && !entry.sync_after_write) {
    // A write that fails or falls short breaks the link, and the sync ends with ECANCELED.
    write->flags |= IOSQE_IO_LINK;
    prepare_sync(chain.tag, chain.file);
  }
  if (chain.bytes.size() < kSubmittedAtOnceBytes) return;
  io_uring_submit(&ring_);  // what it doesn't take, the next wait submits
  after_submission();
}

// The kernel takes requests in order and stops where it can't go on. Its link from a write to the next
// request ends with what it took: a sync that it left behind would, taken later, no longer wait for the
// write. Such a sync is the oldest request left, and still ours to change, as the kernel reads requests only
// while it is asked to take them: it becomes a request for nothing. Draining (IOSQE_IO_DRAIN) would not do:
// it waits for all requests before, the poll included.
void UringQueue::after_submission() {
  if (options_.polled) return prepared_.clear();  // nothing is linked
  prepared_.erase(prepared_.begin(), prepared_.end() - io_uring_sq_ready(&ring_));
  if (prepared_.empty() || prepared_.front().step != kSyncStep) return;
  Prepared& left = prepared_.front();
  InFlight& chain = in_flight_.at(left.tag);
  if (chain.steps < 2) return;  // its write has ended: a sync that complete() began
  io_uring_prep_nop(left.request);
  left.request->user_data = user_data(left.tag, kNothingStep);
  left.step = kNothingStep;
  chain.sync_after_write = true;
}

bool UringQueue::end_write(InFlight& chain, int status) {
  --chain.steps;
  if (status < 0) {
    chain.result = {chain.result.tag, IoCompletion::Failure::kWrite, -status};
  } else if (static_cast<uint64_t>(status) < chain.bytes) {
    chain.result = {chain.result.tag, IoCompletion::Failure::kShortWrite, 0};
  }
  if (!chain.sync_after_write) return chain.steps == 0;
  if (chain.result.failure != IoCompletion::Failure::kNone) return true;
  prepare_sync(chain.result.tag, chain.file);
  return false;
}

void UringQueue::complete(const io_uring_cqe& completion, std::vector<IoCompletion>& ended) {
  const auto step = static_cast<Step>(completion.user_data & 3);
  if (step == kWakeStep) return take_wakes();
  if (step == kNothingStep) return;
  const auto at = in_flight_.find(completion.user_data >> 2);
  CHECK(at != in_flight_.end());
  InFlight& chain = at->second;
  const int status = completion.res;
  if (step == kWriteStep) {
    if (!end_write(chain, status)) return;
  } else {
    // In a broken chain the write's result says why; its sync is cancelled.
    if (status < 0 && chain.result.failure == IoCompletion::Failure::kNone) {
      chain.result = {chain.result.tag, IoCompletion::Failure::kSync, -status};
    }
    if (--chain.steps > 0) return;
  }
  ended.push_back(chain.result);
  in_flight_.erase(at);
}

// A chain's write ends before its sync, and to be woken for that is of no use. So where a single chain is in
// flight, the wait is for both completions, or for a wake's two.
unsigned UringQueue::completions_to_await() const {
  if (in_flight_.size() != 1) return 1;
  const InFlight& chain = in_flight_.begin()->second;
  return chain.steps == 2 && !chain.sync_after_write ? 2 : 1;
}

void UringQueue::wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) {
  __kernel_timespec time{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
  io_uring_cqe* completion = nullptr;
  // The result is of no use: time is over, a signal came, or completions are there, and those are looked for
  // below.
  io_uring_submit_and_wait_timeout(&ring_, &completion, completions_to_await(), &time, nullptr);
  after_submission();
  while (io_uring_peek_cqe(&ring_, &completion) == 0) {
    const io_uring_cqe taken = *completion;
    io_uring_cqe_seen(&ring_, completion);
    complete(taken, ended);
  }
}

void UringQueue::wake() {
  const uint64_t one = 1;
  // Full means that a wake is pending already.
  [[maybe_unused]] const ssize_t bytes = ::write(wake_descriptor_, &one, sizeof one);
}

}  // namespace mneme
