#include "logging/directory/spare_segments.h"

#include <unistd.h>

#include <algorithm>

namespace mneme {

namespace {

// One that stays behind is removed at a later opening for work.
void remove_spare(const SpareSegment& spare) {
  ::unlink(spare.path.c_str());
}

}  // namespace

void SpareSegments::serve(const std::string& directory) {
  const std::lock_guard guard(mutex_);
  ++places_[directory].devices;
}

void SpareSegments::leave(const std::string& directory) {
  const std::lock_guard guard(mutex_);
  const auto place = places_.find(directory);
  if (--place->second.devices > 0) return;
  std::ranges::for_each(place->second.spares, remove_spare);
  places_.erase(place);
}

void SpareSegments::keep(const std::vector<SpareSegment>& passed) {
  const std::lock_guard guard(mutex_);
  for (const SpareSegment& each : passed) {
    const auto place = places_.find(each.directory);
    if (place == places_.end())
      remove_spare(each);
    else
      place->second.spares.push_back(each);
  }
  for (auto& [directory, place] : places_) {
    for (const size_t most = std::min(place.begun, kMost); place.spares.size() > most;) {
      remove_spare(place.spares.front());
      place.spares.pop_front();
    }
    place.begun = 0;
  }
}

std::optional<SpareSegment> SpareSegments::take(const std::string& directory) {
  const std::lock_guard guard(mutex_);
  const auto place = places_.find(directory);
  if (place == places_.end()) return std::nullopt;
  ++place->second.begun;
  std::deque<SpareSegment>& spares = place->second.spares;
  if (spares.empty()) return std::nullopt;
  SpareSegment spare = std::move(spares.front());
  spares.pop_front();
  return spare;
}

}  // namespace mneme
