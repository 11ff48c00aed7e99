// OwnWorkload: a workload out of a user's files: a .sql file, a CSV file of calls, one of the rows to
// begin with, and a .sql file of conditions.
//
// Calls       a line is a procedure's name and its arguments, those left out at the end being results alone:
//                 transfer*45,=1..1000,=1..1000,=0.01..50.00
//             Lines without a weight (*45) are taken in turn, the workers' streams one after the other, and
//             from the start again; where one has a weight, or a mix is given, each call draws its line: by
//             the weights, and of a mix the procedure by that.
// Rows        a line is a table's name, *COUNT if it stands for many rows, and a value a column:
//                 account*100000,=number,=100.00..500.00
// Values      workloads/shared/drawn_value.h. What is drawn follows from the seed, the stream and the
//             position alone, as a Workload's calls do.
// Errors      each names the file and the line. Two rows of one key are found when they are loaded
//             (workloads/shared/load.h).
// Checks      SELECTs that must return no row (workloads/shared/check_query.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "procedures/binder/program.h"
#include "workloads/shared/csv.h"
#include "workloads/shared/drawn_value.h"
#include "workloads/shared/mix.h"
#include "workloads/shared/workload.h"

namespace mneme {

// Where a user's own workload lies.
struct WorkloadFiles {
  std::string sql;
  std::string calls;
  std::string rows;      // empty: it begins with empty tables
  std::string checks{};  // empty: there are no conditions
  // The data directory that keeps the files, with which the paths begin. Empty: they lie where the user says.
  std::string directory{};

  Result<std::string> read(const std::string& path) const;
};

class OwnWorkload : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(std::string_view name, const WorkloadFiles& files,
                                                uint64_t seed, std::string_view mix);

  std::string_view name() const override { return name_; }
  std::string_view sql() const override { return sql_; }
  uint32_t part_count() const override;
  void populate(uint32_t part, RowSink sink) const override;
  std::unique_ptr<CallGenerator> generator(const StreamId& stream) const override;
  bool calls(ProcedureId procedure) const override;
  std::vector<MixShare> mix() const override;
  int128 conserved_delta(const Call&, std::span<const Argument>) const override { return 0; }
  std::vector<Check> check(const RowSource&, std::optional<int128>) const override { return {}; }
  std::span<const CheckQuery> check_queries() const override { return check_queries_; }

 private:
  friend class OwnGenerator;

  struct CallLine {
    ProcedureId procedure;
    uint64_t weight = 1;
    uint64_t weights_before = 0;  // of the lines above among the same Lines
    std::vector<DrawnValue> arguments;
  };
  struct RowLine {
    TableId table;
    uint64_t rows_before = 0;
    std::vector<DrawnValue> values;
  };
  // The lines to draw from: all, or those of one procedure of the mix.
  struct Lines {
    std::vector<CallLine> lines;
    uint64_t weight = 0;
    void add(CallLine line);
    const CallLine& draw(Random& random) const;
  };

  explicit OwnWorkload(uint64_t seed) : seed_(seed) {}
  Result<CallLine> parse_call(std::span<const CsvField> fields, const std::string& sql_file);
  Result<RowLine> parse_row(std::span<const CsvField> fields);
  Result<void> read_calls(const WorkloadFiles& files, std::string_view mix);
  Result<void> read_rows(const WorkloadFiles& files);
  Result<void> choose_mix(std::string_view mix);

  const uint64_t seed_;
  std::string name_;
  std::string sql_;
  std::unique_ptr<Program> program_;
  Arena kept_;                // the text of what the files say
  std::vector<Lines> calls_;  // one, or with a mix one a procedure that has calls
  std::optional<Mix> mix_;
  bool in_turn_ = true;
  std::vector<RowLine> rows_;
  uint64_t row_count_ = 0;
  std::vector<CheckQuery> check_queries_;
};

}  // namespace mneme
