// SliceUnits: the code that parallel replay runs, as units to compile: the body, the locate body and the
// parts' bodies of each slice that is replayed.
//
// Invariants  the order depends on the graph alone, so an object that was compiled earlier fits.
// Threads     constant once made; the graph must outlive it.
#pragma once

#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "procedures/interpreter/native_abi.h"

namespace mneme {

class SliceUnits {
 public:
  explicit SliceUnits(const DependencyGraph& graph);

  std::span<const NativeUnit> units() const { return units_; }
  // The place of a replayed slice's body among the units; those of its locate body and its parts follow.
  size_t body_of(ProcedureId procedure, SliceId slice) const { return places_[procedure.value][slice.value]; }
  size_t locate_body_of(ProcedureId procedure, SliceId slice) const { return body_of(procedure, slice) + 1; }
  size_t part_of(ProcedureId procedure, SliceId slice, size_t part) const {
    return body_of(procedure, slice) + 2 + part;
  }

 private:
  std::vector<NativeUnit> units_;
  std::vector<std::vector<size_t>> places_;  // by procedure and slice
};

}  // namespace mneme
