#include "base/exhaustion.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace mneme {

namespace {

// No memory may be asked for here.
[[noreturn]] void end(const char* what) {
  char text[512];
  const int length =
      std::snprintf(text, sizeof text,
                    "mneme: %s; the process ends here, as if it had been killed: what was acknowledged "
                    "is durable. Give it more, or ask for less (a smaller scale, fewer threads), and "
                    "recover, or go on with --resume\n",
                    what);
  if (length > 0 && ::write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) std::abort();
  ::_exit(1);
}

[[noreturn]] void end_of_uncaught() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end("no memory is left");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      end("no memory is left for a thread, or no further thread is allowed");
    std::fprintf(stderr, "mneme: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mneme: %s\n", error.what());
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void out_of_memory(size_t bytes) {
  char text[96];
  std::snprintf(text, sizeof text, bytes == 0 ? "no memory is left" : "no memory is left for %zu bytes more",
                bytes);
  end(text);
}

void end_when_exhausted() {
  std::set_terminate(end_of_uncaught);
}

}  // namespace mneme
