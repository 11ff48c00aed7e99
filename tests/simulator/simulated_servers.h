// SimulatedServers: the log servers of a scenario, each on a machine of its own beside the engine's, and what
// befalls them and the links to them.
//
// Flow        the engine's thread makes them, in a simulation with a network -> faults, at times that are
//             drawn -> its power fails: what is under way to them arrives or doesn't, they save their logs as
//             they do when an engine's connection ends, and end
// Faults      connections are reset, links cut, servers hang; a server is killed, and comes back without what
//             was in its memory, or ends in order, and comes back with it.
// Invariants  what an engine needs to recover is there: a server loses its memory only where all others have
//             the same term's log, whole. So the disks of their machines, which are no simulated ones, have
//             what the next life needs.
// Threads     one a server, and one that watches over them, on a machine that has no part in the faults.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "network/log_server.h"

namespace mneme::simulator {

// Bits, of ServerRules and a scenario.
enum class NetworkFault : uint8_t {
  kReset = 1,  // a connection
  kCut = 2,    // a link, for a while
  kKill = 4,   // a server, which loses its memory
  kEnd = 8,    // a server, in order
  kHang = 16,  // a server, for a while
  // no fault that an engine could survive, and for the check of the check: all servers forget what came last
  kForgets = 32,
};
inline constexpr uint64_t kNetworkFaults = 32;  // bits below: those that are drawn

struct ServerRules {
  uint64_t count = 0;     // 1 or 3
  uint64_t faults = 0;    // of NetworkFault
  uint64_t pause_us = 0;  // from one fault to the next, twice as long at most
  std::string folder;     // each server's directory lies in it
  uint64_t database_id = 0;
  // a server can't be started, or not save: with a sentence
  std::function<void(const std::string&)> trouble{};
};

struct ServerCounts {
  uint64_t resets = 0;
  uint64_t cuts = 0;
  uint64_t lost = 0;  // servers, with their memory
  uint64_t ended = 0;
  uint64_t hung = 0;

  ServerCounts& operator+=(const ServerCounts& other);
  bool operator==(const ServerCounts&) const = default;
};

// As --log-server has them.
std::string server_addresses_of(uint64_t count);

class SimulatedServers {
 public:
  // Returns once they listen.
  SimulatedServers(ServerRules rules, ServerCounts& counts);

  // The engine's machine stops for ever; `ended` is called once the servers have ended, and must not return.
  // Nor does this, to a thread of that machine.
  void fail_power(std::function<void()> ended);
  bool has_failed_power() const { return has_failed_; }
  // All in order, and at once: there is no engine any more.
  void end();

 private:
  struct Server {
    LogServer* server = nullptr;  // while it runs
    std::thread thread;
    bool is_up = false;
    bool has_ended = false;   // in order; to be joined
    uint64_t back_at = 0;     // while it is down
    uint64_t mended_at = 0;   // of its link
    uint64_t goes_on_at = 0;  // when it hangs
  };

  std::string folder_of(size_t index) const;
  void start(size_t index);
  void watch();
  void take_joins();
  void come_back();
  void befall();
  void lose(size_t index);
  void kill(size_t index);
  void end(size_t index);
  bool may_lose(size_t index) const;  // as the invariants say
  uint32_t whole_term(size_t index) const;
  void forget_last(size_t index) const;
  uint64_t a_while() const;
  void see_off();

  const ServerRules rules_;
  ServerCounts& counts_;
  std::vector<Server> servers_;
  std::thread watcher_;
  bool has_failed_ = false;  // the engine's power
  bool ends_ = false;
  std::function<void()> ended_;
};

// As an engine does that lost its servers while it made the directory's next segment, saved what it had, and
// died before the manifest named it.
void leave_a_segment_behind(const std::string& directory);

}  // namespace mneme::simulator
