#include "procedures/emitter_lookups.h"

#include "procedures/emitter_lookup_walk.h"

namespace mneme {

LookupFunctions emit_lookups(const Schema& schema, const NativeUnit& unit) {
  LookupWalk trial(schema, *unit.procedure, /*round=*/0, /*rounds=*/nullptr);
  trial.emit(unit.name);
  const LookupRounds rounds = trial.rounds();
  LookupFunctions functions;
  for (uint32_t round = 0; round < rounds.count; ++round) {
    LookupWalk walk(schema, *unit.procedure, round, &rounds);
    functions.text += walk.emit(unit.name);
    functions.names += fmt::format("{}lookups_{}_{}", round == 0 ? "" : ", ", unit.name, round);
  }
  return functions;
}

}  // namespace mneme
