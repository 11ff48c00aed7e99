// Call hints: the keys that a call's operations were about, which its record says where replay could not know
// them before it runs the call.
//
// Flow        a run: the body that tells keys (ToldProcedure) -> HintNotes -> encode() behind the call's
//             arguments -> the log -> decode_call() -> Call::hints -> dispatch puts the call's pieces into
//             the lanes of these keys (recovery/calls/piece_dispatch.h) -> the pieces tell their keys again
//             -> HintCheck, which refuses what the hint does not have
// Format      varint n, how many operations tell, then for each, ascending:
//               varint operation, varint k keys, and if there are any
//               a byte a column, 0 integer or 1 text, with 0x80 added if another column follows
//               k x columns values: an integer as a zigzag varint, a text as a varint length and its bytes
//             Nothing at all stands there if the call has no hint.
// Invariants  a hint has every key that an operation which it lists told in the attempt that committed; it
//             may have more. A key with a NULL is left out, as it finds no row. An operation that is not
//             listed told nothing: its keys are unknown.
// Bounds      kMostHintKeys keys and kMostHintBytes bytes a call. A call that needs more has no hint.
// Threads     one owner. The steady state allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/memory/arena.h"
#include "procedures/interpreter/call.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"

namespace mneme {

inline constexpr size_t kMostHintKeys = 64;
inline constexpr size_t kMostHintBytes = 512;
inline constexpr size_t kMostHintOperations = 64;
inline constexpr size_t kMostHintColumns = 16;

// Receives the keys of statements marked kTell, before the operation that they stand for runs.
class KeySink {
 public:
  virtual ~KeySink() = default;

  // `key`: the values of the mark, one of them perhaps NULL. Text is valid until the run's end, and beyond it
  // until the runner's next run. Returns false to end the run with Outcome::Kind::kOutsideHint.
  [[nodiscard]] virtual bool tell(OperationId operation, std::span<const Value> key) = 0;
};

// A procedure of which some operations tell their keys.
struct ToldProcedure {
  ir::MarkedBody body;                  // the procedure's, with statements marked kTell among its own
  std::vector<OperationId> operations;  // that are told of, ascending; none: the procedure has no hints

  bool has_hints() const { return !operations.empty(); }
};

// Notes what a call tells.
class HintNotes final : public KeySink {
 public:
  // An attempt begins: what was noted before is forgotten.
  void begin(const ToldProcedure& procedure);
  // Always returns true: a run is not ended by its notes.
  bool tell(OperationId operation, std::span<const Value> key) override;
  // Appends the hint, and returns how many bytes it takes: none if there are too many keys or bytes.
  size_t encode(ByteBuffer& out);

 private:
  struct Note {
    size_t operation = 0;  // its number among those that tell
    size_t first = 0;      // in values_
    size_t columns = 0;
  };
  std::span<const Value> key_of(const Note& note) const {
    return std::span(values_).subspan(note.first, note.columns);
  }

  const ToldProcedure* procedure_ = nullptr;
  std::vector<Note> notes_;
  std::vector<Value> values_;
  std::vector<Value> ordered_;   // the keys by operation, to be encoded
  std::vector<CallHint> hints_;  // of these
  bool is_too_much_ = false;
};

// Holds what a piece of a logged call tells to the call's hint.
class HintCheck final : public KeySink {
 public:
  // The hint of the call whose pieces run next. It outlives them.
  void use(std::span<const CallHint> hints) { hints_ = hints; }
  bool tell(OperationId operation, std::span<const Value> key) override;

 private:
  std::span<const CallHint> hints_;
};

// Returns what the hint says of an operation, or nullptr.
const CallHint* find_hint(std::span<const CallHint> hints, OperationId operation);

// "line 3: (17), (25)": the operation's line and the keys, for people.
std::string print_hint(const ir::Procedure& procedure, const CallHint& hint);

// Appends the encoding of a hint, which is unique; nothing if there is none.
void encode_hints(std::span<const CallHint> hints, ByteBuffer& out);

// Reads the hint that follows a call of the procedure. Texts point into `bytes`, keys lie in the arena.
// Returns why these bytes are none, as a sentence's end, or nullptr.
const char* decode_hints(const ir::Procedure& procedure, ByteSpan bytes, Arena& arena,
                         std::span<const CallHint>& hints);

}  // namespace mneme
