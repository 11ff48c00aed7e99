#include "tests/interleaving/scheduler.h"

#include <ucontext.h>

#include <algorithm>

#include "base/check.h"

namespace mneme::interleaving {

namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr uint64_t kMostSteps = 100'000;  // of a run

struct Fiber {
  enum class State : uint8_t { kReady, kWaiting, kStopped, kEnded };

  ucontext_t context;
  std::vector<std::byte> stack = std::vector<std::byte>(kStackBytes);
  std::function<void()> body;
  State state = State::kReady;
  bool others_wrote = false;  // since it last began to look whether it must wait
};

// One choice of a schedule: which of the threads that could run goes on.
struct Choice {
  uint32_t taken = 0;
  uint32_t alternatives = 1;
};

using Schedule = std::vector<Choice>;

// Turns to the next schedule. False: there is none.
bool advance(Schedule& schedule) {
  while (!schedule.empty() && schedule.back().taken + 1 == schedule.back().alternatives) schedule.pop_back();
  if (schedule.empty()) return false;
  ++schedule.back().taken;
  return true;
}

class Run {
 public:
  // The schedule is followed as far as it goes, and extended by first choices.
  Run(std::vector<std::unique_ptr<Fiber>>& fibers, Schedule& schedule, uint32_t deviations,
      Scenario& scenario)
      : fibers_(fibers), schedule_(schedule), deviations_left_(deviations), scenario_(scenario) {}

  void run(const std::vector<std::function<void()>>& bodies);

  void step(Step kind);
  void wait_for_others();
  void stop();

 private:
  static void enter();

  Fiber& running() { return *fibers_[running_]; }
  std::vector<uint32_t> candidates();
  void choose();

  std::vector<std::unique_ptr<Fiber>>& fibers_;
  Schedule& schedule_;
  size_t position_ = 0;  // in the schedule
  uint32_t deviations_left_;
  Scenario& scenario_;
  uint32_t running_ = 0;
  uint64_t steps_ = 0;
  ucontext_t caller_;
};

Run* current = nullptr;

void Run::enter() {
  current->choose();
  current->running().body();
  current->running().state = Fiber::State::kEnded;
  current->choose();
}

void Run::run(const std::vector<std::function<void()>>& bodies) {
  CHECK(bodies.size() == fibers_.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    Fiber& fiber = *fibers_[i];
    fiber.body = bodies[i];
    fiber.state = Fiber::State::kReady;
    fiber.others_wrote = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Run::enter, 0);
  }
  current = this;
  swapcontext(&caller_, &running().context);
  current = nullptr;
  if (std::ranges::any_of(fibers_, [](const auto& each) { return each->state != Fiber::State::kEnded; })) {
    scenario_.violated("deadlock: every thread waits");
  }
  if (!scenario_.violation()) scenario_.examine();
}

void Run::step(Step kind) {
  if (++steps_ > kMostSteps) scenario_.violated("livelock: the run does not end");
  choose();
  if (kind == Step::kRead) return;
  for (uint32_t i = 0; i < fibers_.size(); ++i) {
    if (i == running_) continue;
    fibers_[i]->others_wrote = true;
    if (fibers_[i]->state == Fiber::State::kWaiting) fibers_[i]->state = Fiber::State::kReady;
  }
}

void Run::wait_for_others() {
  // Another thread's write may have come after this one's look, so this one must look again.
  if (!running().others_wrote) running().state = Fiber::State::kWaiting;
  choose();
  running().others_wrote = false;
}

void Run::stop() {
  running().state = Fiber::State::kStopped;
  choose();
}

// Returns the threads that can go on: the running one first, if it can, then the others in turn.
std::vector<uint32_t> Run::candidates() {
  std::vector<uint32_t> ready;
  if (running().state == Fiber::State::kReady) ready.push_back(running_);
  for (uint32_t distance = 1; distance < fibers_.size(); ++distance) {
    const auto other = static_cast<uint32_t>((running_ + distance) % fibers_.size());
    if (fibers_[other]->state == Fiber::State::kReady) ready.push_back(other);
  }
  if (!ready.empty()) return ready;
  for (uint32_t i = 0; i < fibers_.size(); ++i) {
    if (fibers_[i]->state != Fiber::State::kStopped) continue;
    fibers_[i]->state = Fiber::State::kReady;
    return {i};
  }
  return {};
}

void Run::choose() {
  Fiber& before = running();
  const std::vector<uint32_t> ready = candidates();
  if (ready.empty() || scenario_.violation()) {
    swapcontext(&before.context, &caller_);  // for good
  }
  uint32_t taken = 0;
  if (ready.size() > 1 && deviations_left_ > 0) {
    if (position_ == schedule_.size()) schedule_.push_back({0, static_cast<uint32_t>(ready.size())});
    CHECK(schedule_[position_].alternatives ==
          ready.size());  // else the run depends on more than its schedule
    taken = schedule_[position_++].taken;
  }
  if (taken > 0) --deviations_left_;
  if (ready[taken] == running_) return;
  running_ = ready[taken];
  swapcontext(&before.context, &running().context);
}

}  // namespace

void step(Step kind) {
  if (current != nullptr) current->step(kind);
}

void wait_for_others() {
  CHECK(current != nullptr);
  current->wait_for_others();
}

void stop() {
  CHECK(current != nullptr);
  current->stop();
}

Exploration explore(const std::function<std::unique_ptr<Scenario>()>& make, uint32_t deviations,
                    uint64_t most_schedules) {
  Exploration exploration;
  Schedule schedule;
  std::vector<std::unique_ptr<Fiber>> fibers;
  do {
    const std::unique_ptr<Scenario> scenario = make();
    const std::vector<std::function<void()>> bodies = scenario->threads();
    while (fibers.size() < bodies.size()) fibers.push_back(std::make_unique<Fiber>());
    Run(fibers, schedule, deviations, *scenario).run(bodies);
    ++exploration.schedules;
    if (scenario->violation()) {
      exploration.violation = scenario->violation();
      return exploration;
    }
    if (!advance(schedule)) {
      exploration.complete = true;
      return exploration;
    }
  } while (exploration.schedules < most_schedules);
  return exploration;
}

}  // namespace mneme::interleaving
