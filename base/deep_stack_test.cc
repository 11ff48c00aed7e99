// Deep stack: a recursion that a small thread's stack cannot hold, what it throws, and when the caller's own
// stack is used.
#include "base/deep_stack.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/testing/test_small_stack.h"

namespace mneme {
namespace {

using test::on_small_stack;

// Uses about a KiB a level.
size_t sink_to(size_t depth) {
  volatile char bytes[1024];
  bytes[0] = 1;
  return depth == 0 ? 0 : sink_to(depth - 1) + static_cast<size_t>(bytes[0]);
}

TEST(DeepStack, HoldsWhatASmallStackCannot) {
  on_small_stack([] {
    EXPECT_LE(stack_bytes_left(), size_t{512} << 10);
    EXPECT_EQ(on_deep_stack([] { return sink_to(4000); }), 4000U);
  });
}

TEST(DeepStack, ThrowsWhatTheJobThrows) {
  on_small_stack(
      [] { EXPECT_THROW(on_deep_stack([] { throw std::runtime_error("no"); }), std::runtime_error); });
}

TEST(DeepStack, UsesTheCallersStackWhereThatIsDeepEnough) {
  const auto inner_thread = [] { return on_deep_stack([] { return std::this_thread::get_id(); }); };
  on_small_stack([&] {
    EXPECT_NE(inner_thread(), std::this_thread::get_id());
    // Inside of a job there is room enough: no second thread.
    EXPECT_TRUE(on_deep_stack([&] { return inner_thread() == std::this_thread::get_id(); }));
  });
}

}  // namespace
}  // namespace mneme
