#include "tests/simulator/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>
#include <span>

#include "engine/checkpoint/online_checkpointer.h"
#include "logging/buffer/log_buffer_factory.h"
#include "logging/directory/log_layout.h"
#include "tests/simulator/simulated_disk.h"
#include "tests/simulator/simulated_servers.h"

namespace mneme::simulator {

namespace {

struct Field {
  std::string_view name;
  uint64_t Scenario::*value;
  uint64_t least;
};

constexpr Field kFields[] = {{"seed", &Scenario::seed, 0},
                             {"lives", &Scenario::lives, 1},
                             {"workers", &Scenario::workers, 1},
                             {"calls", &Scenario::calls, 1},
                             {"window", &Scenario::window, 1},
                             {"pause", &Scenario::pause, 0},
                             {"steps", &Scenario::steps, 0},
                             {"kills", &Scenario::kills, 0},
                             {"creation", &Scenario::creation, 0},
                             {"records", &Scenario::records, 0},
                             {"buffer", &Scenario::buffer, 0},
                             {"layout", &Scenario::layout, 0},
                             {"streams", &Scenario::streams, 1},
                             {"pages", &Scenario::pages, 0},
                             {"checkpoints", &Scenario::checkpoints, 0},
                             {"ad_hoc", &Scenario::ad_hoc, 0},
                             {"locking", &Scenario::locking, 0},
                             {"fault", &Scenario::fault, 0},
                             {"fault_at", &Scenario::fault_at, 1},
                             {"slowness", &Scenario::slowness, 1},
                             {"aim", &Scenario::aim, 0},
                             {"rot", &Scenario::rot, 0},
                             {"device", &Scenario::device, 0},
                             {"servers", &Scenario::servers, 1},
                             {"network", &Scenario::network, 0},
                             {"calm", &Scenario::calm, 1},
                             {"leftovers", &Scenario::leftovers, 0},
                             {"reuse", &Scenario::reuse, 0}};

}  // namespace

Scenario Scenario::draw(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](uint64_t below) { return random() % below; };
  Scenario drawn;
  drawn.seed = seed;
  drawn.lives = 1 + pick(4);
  drawn.kills = pick(3) == 0 ? 1 : 0;
  if (pick(4) == 0) drawn.creation = pick(3) == 0 ? 1 : 3 + pick(9);
  drawn.workers = 1 + pick(3);
  drawn.calls = 1 + pick(60);
  drawn.window = pick(2) == 0 ? 1 : 1 + pick(16);
  drawn.pause = pick(2) == 0 ? 0 : pick(3000);
  drawn.steps = 6 + pick(9);
  drawn.records = pick(4);
  drawn.layout = pick(2) == 0 ? 0 : pick(3);
  drawn.buffer = pick(log_buffer_kinds().size());
  drawn.streams = 1 + pick(3);
  drawn.pages = drawn.records >= 2 ? pick(2) : 0;
  drawn.checkpoints = pick(2);
  const bool holds_calls = drawn.records == 0 || drawn.records == 3;
  drawn.ad_hoc = holds_calls && pick(3) == 0 ? 10 + pick(60) : 0;
  drawn.locking = pick(2) == 0 ? 0 : 1 + pick(2);
  if (pick(3) == 0) {
    drawn.fault = 1 + pick(static_cast<uint64_t>(Fault::kForgetsSyncs) - 1);
    // A life has few log writes that could be cut short, and reads only while it opens. So these two faults
    // come early.
    const auto fault = static_cast<Fault>(drawn.fault);
    const uint64_t most_bits = fault == Fault::kShortWrite || fault == Fault::kReadFails ? 4 : 7;
    drawn.fault_at = 1 + pick(uint64_t{1} << (1 + pick(most_bits)));
  }
  if (pick(4) == 0) drawn.slowness = 1 + pick(100);
  if (drawn.checkpoints != 0 && pick(3) == 0) {
    // Draws lives that are long enough for a checkpoint, and in which power fails during it or soon after.
    // About half aim behind kArchived, where the manifest is replaced.
    drawn.aim =
        1 + (pick(2) == 0 ? static_cast<uint64_t>(CheckpointStep::kArchived) : pick(kCheckpointSteps));
    drawn.calls = 30 + pick(60);
    drawn.pause = 500 + pick(uint64_t{1} << (10 + pick(6)));
  }
  if (pick(4) == 0) drawn.rot = 1 + pick(6);
  if (pick(4) == 0) {
    drawn = drawn.remote();
    drawn.servers = pick(4) == 0 ? 1 : 3;
    // Draws one kind of network fault, or any set of kinds.
    if (pick(4) != 0) drawn.network = pick(3) == 0 ? uint64_t{1} << pick(5) : 1 + pick(kNetworkFaults - 1);
    if (drawn.network != 0 && pick(2) == 0) drawn.network |= static_cast<uint64_t>(NetworkFault::kKill);
    drawn.calm = 1 + pick(uint64_t{1} << (3 + pick(9)));
    // Opening takes some thousand steps, and so does ending. In most lives power fails between the two.
    drawn.steps = 10 + pick(5);
    drawn.calls = 20 + pick(60);
  }
  if (drawn.checkpoints != 0 && drawn.device == 0 && pick(2) == 0) {
    // Draws lives that fill a few segments.
    drawn.reuse = 1;
    drawn.calls = 60 + pick(120);
  }
  return drawn;
}

Scenario Scenario::remote() const {
  Scenario remote = *this;
  remote.device = 1;
  // The servers take one stream only. The simulation doesn't rot their memories.
  remote.layout = 0;
  remote.rot = 0;
  remote.kills = 0;
  remote.creation = 0;
  remote.reuse = 0;
  remote.leftovers = seed % 4 == 0 ? 1 : 0;
  return remote;
}

std::string Scenario::text() const {
  std::string text;
  for (const Field& field : kFields)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", field.name, this->*field.value);
  return text;
}

Result<Scenario> Scenario::parse(std::string_view text) {
  Scenario parsed;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::string_view name = word.substr(0, word.find('='));
    const auto* field = std::ranges::find(kFields, name, &Field::name);
    const std::string_view number = word.substr(std::min(word.size(), name.size() + 1));
    uint64_t value = 0;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    if (field == std::end(kFields) || read.ec != std::errc() || value < field->least) {
      return invalid_argument("a scenario has words as lives=2, and no {}", word);
    }
    parsed.*field->value = value;
  }
  return parsed;
}

std::vector<Scenario> Scenario::simpler() const {
  std::vector<Scenario> found;
  // Partitioning by pages needs physical records (kPhysical, kAll). A log has one server or three.
  const auto makes_sense = [](const Scenario& each) {
    return (each.pages == 0 || each.records >= 2) && each.servers != 2;
  };
  for (const Field& field : std::span(kFields).subspan(1)) {
    const uint64_t value = this->*field.value;
    uint64_t last = value;
    for (const uint64_t smaller : {field.least, field.least + (value - field.least) / 2, value - 1}) {
      if (value == field.least || smaller >= value || smaller == last) continue;
      last = smaller;
      Scenario each = *this;
      each.*field.value = smaller;
      if (makes_sense(each)) found.push_back(each);
    }
  }
  return found;
}

}  // namespace mneme::simulator
