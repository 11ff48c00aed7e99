#include "cli/measure/terminals.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace mneme {
namespace {

uint64_t nanoseconds_of(double seconds) {
  return static_cast<uint64_t>(seconds * 1e9);
}

}  // namespace

Terminals::Terminals(const Workload& workload, const TerminalRules& rules, uint32_t count, uint32_t worker,
                     uint32_t workers, uint32_t incarnation, uint64_t seed, uint64_t start_ns)
    : rules_(rules) {
  for (uint32_t terminal = worker; terminal < count; terminal += workers) {
    StreamId stream{terminal, count, incarnation};
    stream.is_terminal = true;
    users_.push_back({workload.generator(stream), Random({seed, /*purpose=*/0x7e12, terminal, incarnation})});
  }
  due_.reserve(users_.size());
  for (uint32_t i = 0; i < users_.size(); ++i) {
    choose_next(i, start_ns);
    // As if the users had been at work for long: each is somewhere in his cycle.
    const TerminalRules::Times& times = rules_.times[users_[i].next->procedure.value];
    const double cycle = times.keying_seconds + times.think_seconds;
    due_.back().at_ns = start_ns + nanoseconds_of(cycle * users_[i].random.fraction());
  }
  std::ranges::make_heap(due_, is_later);
}

bool Terminals::is_later(const Entry& one, const Entry& other) {
  return one.at_ns != other.at_ns ? one.at_ns > other.at_ns : one.terminal > other.terminal;
}

Terminals::Due Terminals::take() {
  CHECK(!due_.empty());
  std::ranges::pop_heap(due_, is_later);
  const uint32_t terminal = due_.back().terminal;
  due_.pop_back();
  return {terminal, users_[terminal].next};
}

void Terminals::answered(uint32_t terminal, uint64_t now_ns) {
  User& user = users_[terminal];
  user.think_seconds = rules_.times[user.next->procedure.value].think_seconds;
  choose_next(terminal, now_ns);
  std::ranges::push_heap(due_, is_later);
}

void Terminals::choose_next(uint32_t terminal, uint64_t from_ns) {
  User& user = users_[terminal];
  const double think = think_time(user);
  user.next = &user.generator->call(user.position++);
  const double keying = rules_.times[user.next->procedure.value].keying_seconds;
  due_.push_back({from_ns + nanoseconds_of(think + keying), terminal});
}

double Terminals::think_time(User& user) const {
  const double mean = user.think_seconds;
  return std::min(-std::log(user.random.fraction()) * mean, TerminalRules::kLongestThink * mean);
}

}  // namespace mneme
