#include "recovery/calls/slice_units.h"

#include <fmt/format.h>

namespace mneme {

SliceUnits::SliceUnits(const DependencyGraph& graph) {
  for (const LocalGraph& local : graph.procedures) {
    std::vector<size_t>& places = places_.emplace_back();
    for (const Slice& slice : local.slices) {
      places.push_back(units_.size());
      if (!slice.is_replayed()) continue;
      const std::string name = fmt::format("{}_slice_{}", local.replay.name, slice.id.value + 1);
      units_.push_back({name, &local.replay, slice.body, true});
      units_.push_back({name + "_lanes", &local.replay, slice.locate_body, true});
      for (const SlicePart& part : slice.parts)
        units_.push_back({fmt::format("{}_part_{}", name, 1 + (&part - slice.parts.data())), &local.replay,
                          part.body, true});
    }
  }
}

}  // namespace mneme
