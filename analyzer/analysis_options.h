// Analysis options: how finely procedures are taken apart. Which of them are chosen changes how fast a log is
// replayed, never what it is replayed to.
//
// Flow        `mneme slice`, `mneme recover` (cli/option/analysis_option.h) -> analyze() (dependency_graph.h)
// Source      PACMAN (SIGMOD 2017), section 4.1.1 (tables) and Figure 18 (chopping).
#pragma once

#include <cstdint>

namespace mneme {

// Two operations are in conflict if they share:
enum class ConflictGrain : uint8_t {
  kTable,   // the paper's rule: a table that one of them modifies
  kColumn,  // a column that one of them writes, or the coming and going of a table's rows
};

enum class Decomposition : uint8_t {
  kPacman,    // Algorithms 1 and 2
  kChopping,  // as fine as transaction chopping allows, the paper's comparison
  // Not at all: a procedure is one slice, and all of them are one block. What is left of the analysis is
  // which reads no write needs, and which rows can be looked up ahead: serial replay at its best, to compare
  // with.
  kWhole,
};

// Conflicts that may be known to order nothing.
struct Elisions {
  bool unwritten = true;    // columns that no procedure writes; conflicts by column imply it
  bool insert_only = true;  // tables into which procedures only insert
  bool increments = true;   // additions to a column: they commute, and no statement reads the column

  bool operator==(const Elisions&) const = default;
};

struct AnalysisOptions {
  ConflictGrain conflicts = ConflictGrain::kColumn;
  Elisions elide;
  Decomposition decompose = Decomposition::kPacman;
  bool coalesce = true;  // slices that need not be apart are joined (coalescing.h)
  // Lanes are cut by columns alone whose values follow from a call's arguments, not from what its other
  // slices find: so all pieces of a log have their lanes before any of it is replayed. And what an operation
  // reads that never changes is read apart (constant_reads.h): so less waits for other pieces.
  bool lanes_from_arguments = false;
  // With it: or they follow from what is read that never changes, which dispatch then reads. It is not for
  // logs with ad-hoc transactions, which may change that.
  bool reads_to_locate = false;

  // The paper's own analysis.
  static constexpr AnalysisOptions paper() {
    return {ConflictGrain::kTable, {false, false, false}, Decomposition::kPacman, false};
  }
  // For logs with ad-hoc transactions, which may set what procedures only add to.
  static constexpr AnalysisOptions for_ad_hoc() {
    return {ConflictGrain::kColumn, {true, true, false}, Decomposition::kPacman, true};
  }
  bool operator==(const AnalysisOptions&) const = default;
};

}  // namespace mneme
