// Journal: what happens in a run of the engine, event by event, and where its power fails.
//
// An event is an object with "kind" and what the kind has (laboratory.h). The power fails behind one of them:
// `at_crash` is called then, once, and takes a copy of the disk. The run goes on, and nothing that it does
// later is in that copy.
// Threads     one.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "lab/table_view.h"

namespace mneme::lab {

class Journal {
 public:
  // `crash_behind`: so many events have happened when the power fails; nullopt: it doesn't.
  Journal(std::optional<size_t> crash_behind, std::function<void()> at_crash)
      : crash_behind_(crash_behind), at_crash_(std::move(at_crash)) {}

  void add(Json event) {
    events_.push_back(std::move(event));
    if (crash_behind_ == events_.size()) at_crash_();
  }
  size_t size() const { return events_.size(); }
  Json take() { return std::move(events_); }

 private:
  const std::optional<size_t> crash_behind_;
  const std::function<void()> at_crash_;
  Json events_ = Json::array();
};

}  // namespace mneme::lab
