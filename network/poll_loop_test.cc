// Goal: a loop that the system has no room for is refused with its reason, and one that is at work waits for
// room. Method: a process that may open no more files. What the loops do is log_server_test.cc's business.
#include "network/poll_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/testing/test_open_files.h"
#include "base/testing/test_refusal.h"
#include "network/server_address.h"

namespace mneme {
namespace {

TEST(PollLoop, TellsThatNoMoreFilesMayBeOpen) {
  const test::NoOpenFiles none;
  test::expect_refused(PollLoop::open(), ErrorKind::kFailed, "cannot make an eventfd: Too many open files");
}

class SocketLoopOn : public testing::TestWithParam<SocketMethod> {};

// A connection that can't be accepted is there all the time: a loop that tries without a pause does nothing
// else.
TEST_P(SocketLoopOn, PausesWhereNothingCanBeAccepted) {
  const auto loop = open_socket_loop(GetParam()).value().loop;
  const ListeningSocket listening = listen_on({"127.0.0.1", 0}).value();
  loop->listen(listening.descriptor);
  const auto client = connect_to({"127.0.0.1", listening.port}, std::chrono::seconds(5));
  ASSERT_TRUE(client.ok()) << client.error().message;
  std::vector<SocketEvent> events;
  {
    // A limit below what is open would have poll itself refused.
    const test::NoOpenFiles one(1);
    const int last = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_GE(last, 0);
    const uint64_t began = monotonic_ns();
    for (int i = 0; i < 200; ++i) loop->wait(std::chrono::milliseconds(1), events);
    const auto pauses =
        (monotonic_ns() - began) / static_cast<uint64_t>(std::chrono::nanoseconds(kAcceptPause).count());
    const auto is_failure = [](const SocketEvent& each) {
      return each.kind == SocketEvent::Kind::kNotAccepted && each.error_number == EMFILE;
    };
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(events, is_failure)), events.size());
    EXPECT_GE(events.size(), 1u);
    EXPECT_LE(events.size(), pauses + 1);
    ::close(last);
  }
  events.clear();
  while (events.empty()) loop->wait(std::chrono::seconds(1), events);
  EXPECT_EQ(events.front().kind, SocketEvent::Kind::kAccepted);
  ::close(*client);
}

INSTANTIATE_TEST_SUITE_P(Networks, SocketLoopOn, testing::Values(SocketMethod::kUring, SocketMethod::kPoll));

}  // namespace
}  // namespace mneme
