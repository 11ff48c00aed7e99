// mneme_differential: random scenarios on Mneme and on PostgreSQL 15, and what they answer differently.
//
//   mneme_differential [--seed N] [--count N] [--queries] [--show] [--refusals]
//
// Scenario number i of a run has the seed N + i, so that one can be run again alone. A difference is made
// small: statements are left out, expressions replaced by what is in them, as long as both sides still answer
// so differently. Exit status: 1 where there is a difference that tests/differential/known.cc does not list.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "tests/differential/generator.h"
#include "tests/differential/known.h"
#include "tests/differential/two_databases.h"

namespace mneme::differential {
namespace {

struct Options {
  uint64_t seed = 1;
  uint64_t count = 200;
  bool queries = false;   // scenarios of queries, without procedures
  bool shows = false;     // every statement and both answers
  bool refusals = false;  // all kinds of refusal, each with an example
};

const TwoDatabases* running = nullptr;
uint64_t running_seed = 0;

void tell_of_end(int signal) {
  // The process is lost already: what it prints need not be safe in a handler.
  fmt::print(stderr, "signal {} at --seed {}: {}\n", signal, running_seed,
             running == nullptr ? "" : running->running());
  std::_Exit(3);
}

// Names the kind of a difference, which must stay the same while the scenario is made smaller.
std::string kind_of(const Outcome& outcome) {
  if (outcome.differs_in_names()) return "names";
  return (outcome.mneme.ok() ? "ok" : outcome.mneme.sqlstate) + "/" +
         (outcome.postgres.ok() ? "ok" : outcome.postgres.sqlstate);
}

class Minimiser {
 public:
  Minimiser(TwoDatabases& databases, const Outcome& outcome)
      : databases_(databases), kind_(kind_of(outcome)), last_(outcome) {}

  Scenario run(Scenario scenario) {
    scenario.resize(last_.step + 1);
    // Whole statements, from the end, so that the schema goes last.
    for (size_t chunk = scenario.size() / 2; chunk > 0; chunk /= 2) {
      for (size_t end = scenario.size() - 1; end > 0;) {
        const size_t begin = end > chunk ? end - chunk : 0;
        Scenario without = scenario;
        without.erase(without.begin() + static_cast<ptrdiff_t>(begin),
                      without.begin() + static_cast<ptrdiff_t>(end));
        if (is_still(without)) scenario = std::move(without);
        end = begin;
      }
    }
    for (bool changes = true; changes && runs_ < kMostRuns;) {
      changes = false;
      for (size_t i = scenario.size(); i-- > 0;) {
        while (runs_ < kMostRuns && reduce(scenario, i)) changes = true;
      }
    }
    return scenario;
  }

  const Outcome& last() const { return last_; }

 private:
  static constexpr size_t kMostRuns = 300;

  bool reduce(Scenario& scenario, size_t index) {
    if (index + 1 < scenario.size()) {
      Scenario without = scenario;
      without.erase(without.begin() + static_cast<ptrdiff_t>(index));
      if (is_still(without)) {
        scenario = std::move(without);
        return false;
      }
    }
    for (Node& tree : smaller_trees(scenario[index].sql)) {
      if (runs_ >= kMostRuns) return false;
      Scenario changed = scenario;
      changed[index].sql = std::move(tree);
      if (changed[index].sql.text() == scenario[index].sql.text()) continue;
      if (is_still(changed)) {
        scenario = std::move(changed);
        return true;
      }
    }
    return false;
  }

  bool is_still(const Scenario& scenario) {
    // Mneme, in memory, answers in a tenth of the time.
    if (databases_.mneme_alone(scenario).sqlstate != last_.mneme.sqlstate) return false;
    ++runs_;
    const std::vector<Outcome> outcomes = databases_.run(scenario);
    if (outcomes.size() != scenario.size()) return false;
    const Outcome& outcome = outcomes.back();
    if (outcome.verdict != Verdict::kDifferent || kind_of(outcome) != kind_) return false;
    // All before it must agree, so that it is the first difference.
    for (size_t i = 0; i + 1 < outcomes.size(); ++i) {
      if (outcomes[i].verdict == Verdict::kDifferent) return false;
    }
    last_ = outcome;
    return true;
  }

  TwoDatabases& databases_;
  const std::string kind_;
  Outcome last_;
  size_t runs_ = 0;
};

std::string text_of(const Scenario& scenario) {
  std::string text;
  for (const Step& step : scenario) text += step.sql.text() + ";\n";
  return text;
}

class Report {
 public:
  Report(TwoDatabases& databases, const Options& options) : databases_(databases), options_(options) {}

  void add(uint64_t seed) {
    const Scenario scenario = options_.queries ? random_queries(seed) : random_scenario(seed);
    const std::vector<Outcome> outcomes = databases_.run(scenario);
    bool is_made_small = false;
    for (const Outcome& outcome : outcomes) {
      ++verdicts_[outcome.verdict];
      if (options_.shows) {
        fmt::print("-- {}\n{};\n--   Mneme       {}\n--   PostgreSQL  {}\n",
                   outcome.verdict == Verdict::kDifferent ? "DIFFERENT" : "", outcome.text,
                   outcome.mneme.text(), outcome.postgres.text());
      }
      if (outcome.verdict == Verdict::kRefusedByMneme) {
        auto& [count, example] = refusals_[kind_of_refusal(outcome.mneme)];
        if (count++ == 0 || outcome.text.size() < example.size()) example = outcome.text;
      }
      if (outcome.verdict == Verdict::kBothSucceeded)
        ++succeeded_[outcome.text.substr(0, outcome.text.find(' '))];
      if (outcome.verdict != Verdict::kDifferent || is_made_small) continue;
      if (outcome.differs_in_names()) {
        const KnownDifference* known = find_known(outcome, outcome.text);
        if (known != nullptr) {
          ++listed_[known->name];
          continue;
        }
      }
      // others of the scenario may come of the same cause, and another seed finds them alone
      is_made_small = true;
      tell(seed, scenario, outcome);
    }
  }

  int finish() const {
    const auto count = [&](Verdict verdict) {
      const auto found = verdicts_.find(verdict);
      return found == verdicts_.end() ? 0 : found->second;
    };
    size_t all = 0;
    for (const auto& [verdict, number] : verdicts_) all += number;
    fmt::print("\nstatements {}\n  both succeeded alike {}", all, count(Verdict::kBothSucceeded));
    for (const auto& [word, number] : succeeded_) fmt::print("  {} {}", word, number);
    fmt::print(
        "\n  both failed alike {}\n  both refused {}\n  refused by Mneme only {}\n  not run {}\n  different "
        "{}\n",
        count(Verdict::kBothFailed), count(Verdict::kBothRefused), count(Verdict::kRefusedByMneme),
        count(Verdict::kSkipped), count(Verdict::kDifferent));
    size_t listed = 0;
    for (const auto& [name, number] : listed_) listed += number;
    fmt::print("differences made small: listed {}, unlisted {}\n", listed, unlisted_);
    for (const auto& [name, number] : listed_) fmt::print("  {:6} {}\n", number, name);
    fmt::print("refusals by Mneme of what PostgreSQL accepts:\n");
    std::vector<std::pair<size_t, std::string>> kinds;
    for (const auto& [kind, entry] : refusals_) {
      kinds.emplace_back(entry.first, options_.refusals ? kind + "\n           " + entry.second : kind);
    }
    std::ranges::sort(kinds, std::greater());
    for (size_t i = 0; i < kinds.size() && (options_.refusals || i < 25); ++i) {
      fmt::print("  {:6} {}\n", kinds[i].first, kinds[i].second);
    }
    return unlisted_ == 0 ? 0 : 1;
  }

 private:
  void tell(uint64_t seed, const Scenario& scenario, const Outcome& outcome) {
    Scenario until(scenario.begin(), scenario.begin() + static_cast<ptrdiff_t>(outcome.step) + 1);
    databases_.run(until);
    if (const std::optional<std::string> freedom = databases_.freedom_of_plans(until, outcome)) {
      ++listed_[*freedom];
      return;
    }
    Minimiser minimiser(databases_, outcome);
    Scenario small = minimiser.run(scenario);
    const Outcome& last = minimiser.last();
    const std::string text = text_of(small);
    if (const KnownDifference* known = find_known(last, text)) {
      ++listed_[known->name];
      return;
    }
    databases_.run(small);
    if (databases_.raises_before_it_joins(small, last)) {
      ++listed_["rows that a join leaves out: PostgreSQL evaluates a condition on one table before it joins"];
      return;
    }
    if (const std::optional<std::string> freedom = databases_.freedom_of_plans(small, last)) {
      ++listed_[*freedom];
      return;
    }
    if (databases_.has_both_errors(small, last)) {
      ++listed_["which of two errors comes first"];
      return;
    }
    ++unlisted_;
    fmt::print("\n--- difference, --seed {}\n{}--   Mneme       {}\n--   PostgreSQL  {}\n", seed, text,
               last.mneme.text(), last.postgres.text());
    std::fflush(stdout);
  }

  TwoDatabases& databases_;
  const Options& options_;
  std::map<Verdict, size_t> verdicts_;
  std::map<std::string, size_t> succeeded_;
  std::map<std::string, std::pair<size_t, std::string>> refusals_;
  std::map<std::string, size_t> listed_;
  size_t unlisted_ = 0;
};

int run(const Options& options) {
  // The servers' files are needed only for this run, so they go into memory where there is such a place.
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", /*overwrite=*/0);
  const Result<std::unique_ptr<PostgresServer>> server = PostgresServer::start();
  if (!server) {
    fmt::print(stderr, "mneme_differential: {}\n", server.error().message);
    return 1;
  }
  TwoDatabases databases(**server);
  running = &databases;
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGINT, SIGTERM}) std::signal(signal, tell_of_end);
  Report report(databases, options);
  for (uint64_t i = 0; i < options.count; ++i) {
    running_seed = options.seed + i;
    report.add(running_seed);
  }
  return report.finish();
}

}  // namespace
}  // namespace mneme::differential

int main(int count, char** words) {
  mneme::differential::Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto number = [&] { return i + 1 < count ? std::strtoull(words[++i], nullptr, 10) : 0; };
    if (word == "--seed") {
      options.seed = number();
    } else if (word == "--count") {
      options.count = number();
    } else if (word == "--queries") {
      options.queries = true;
    } else if (word == "--show") {
      options.shows = true;
    } else if (word == "--refusals") {
      options.refusals = true;
    } else {
      fmt::print(stderr,
                 "usage: mneme_differential [--seed N] [--count N] [--queries] [--show] [--refusals]\n");
      return 2;
    }
  }
  return mneme::differential::run(options);
}
