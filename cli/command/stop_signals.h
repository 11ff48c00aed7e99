// Stop signals: how a server's process is asked to end.
#pragma once

#include <csignal>

namespace mneme {

// SIGTERM, SIGINT and the end of a terminal call the handler, unless the parent ignores the last, as nohup
// does. A client that goes away ends nothing.
inline void stop_on_signals(void (*handler)(int)) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, handler);
  std::signal(SIGINT, handler);
  if (std::signal(SIGHUP, handler) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

}  // namespace mneme
