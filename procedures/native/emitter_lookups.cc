#include "procedures/native/emitter_lookups.h"

#include "procedures/native/emitter_lookup_walk.h"

namespace mneme {

LookupFunctions emit_lookups(const Schema& schema, const NativeUnit& unit) {
  LookupWalk trial(schema, unit, /*round=*/0, /*rounds=*/nullptr);
  trial.emit(identifier_of(unit.name));
  LookupRounds rounds = trial.rounds();
  // A slice's look-ups go together with those of the pieces behind it: one is worth naming, and more rounds
  // are not.
  if (!unit.is_whole()) rounds.count = trial.names_at_once() ? 1 : 0;
  LookupFunctions functions;
  for (uint32_t round = 0; round < rounds.count; ++round) {
    LookupWalk walk(schema, unit, round, &rounds);
    functions.text += walk.emit(identifier_of(unit.name));
    functions.names +=
        fmt::format("{}lookups_{}_{}", round == 0 ? "" : ", ", identifier_of(unit.name), round);
  }
  return functions;
}

}  // namespace mneme
