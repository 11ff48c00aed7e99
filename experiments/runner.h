// ExperimentRunner: runs a plan's commands in rounds, each once a round, and keeps what each reported.
//
// Flow   a round begins with another command each time, so that what else the machine does falls on all
//        alike; what the store holds already is not run again; a database is made when the first command
//        needs it, once for all figures that make it by the same command. A figure is warmed up by whole
//        rounds that are not kept, if it asks for them and anything is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiments/plan.h"
#include "experiments/store.h"

namespace mneme {

// Each command's measurements, round by round:
// {"key","command","seed","measured_at","load_average","program","result"}.
using Measurements = std::map<std::string, std::vector<nlohmann::ordered_json>>;

struct ExperimentProgress {
  uint64_t done = 0;
  uint64_t total = 0;
  double seconds_left = 0;
  std::string doing;
};

class ExperimentRunner {
 public:
  struct Options {
    ExperimentScale scale{};
    bool fresh = false;
    std::string program{};  // a digest, kept beside each measurement
    std::function<void(const ExperimentProgress&)> progress{};
    // Asked again and again, also while a command runs, which is then ended.
    std::function<bool()> is_interrupted = [] { return false; };
  };

  ExperimentRunner(const ResultStore& store, Options options) : store_(store), options_(std::move(options)) {}

  // Counts the runs of the plans for the progress, without measurements that are kept already.
  Result<void> announce(const std::vector<Plan>& plans);
  // After an interruption it returns what there is: commands may have fewer rounds, or be missing.
  Result<Measurements> run(const Plan& plan);

  // Measurements that the store had before, and those of them that another build of the program took.
  uint64_t reused() const { return reused_; }
  uint64_t of_other_builds() const { return of_other_builds_; }

 private:
  Result<bool> lacks_any(const Plan& plan) const;
  Result<void> warm_up(const Plan& plan);
  Result<std::optional<nlohmann::ordered_json>> kept(const std::string& key, uint32_t round) const;
  Result<nlohmann::ordered_json> measure(const Plan& plan, const std::string& command);
  Result<nlohmann::ordered_json> measure_patiently(const Plan& plan, const std::string& command);
  Result<nlohmann::ordered_json> run_step(const Plan& plan, const std::string& command,
                                          const std::filesystem::path& scratch) const;
  Result<void> make_database(const PlannedDatabase& database, const std::string& figure);
  void tell(const std::string& doing) const;

  const ResultStore& store_;
  Options options_;
  std::map<std::string, std::filesystem::path> databases_;  // by the commands that made them
  std::set<std::string> measured_;                          // by this runner: key and round
  uint64_t done_ = 0;
  uint64_t total_ = 0;
  double seconds_left_ = 0;     // as guessed
  double guessed_seconds_ = 0;  // of what is done
  double real_seconds_ = 0;
  uint64_t reused_ = 0;
  uint64_t of_other_builds_ = 0;
};

}  // namespace mneme
