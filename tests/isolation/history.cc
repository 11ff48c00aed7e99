#include "tests/isolation/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace mneme::test {

namespace {

std::string text_of(const ItemVersion& version) {
  return fmt::format("item {} version {}", version.item, version.version);
}

}  // namespace

std::string History::edge_text(size_t from, const Edge& edge) const {
  constexpr const char* kTexts[] = {"wrote the version before", "wrote, to be read by the next,",
                                    "read, before the next replaced it,"};
  return fmt::format("  {} {} {}\n", transactions_[from].name, kTexts[static_cast<size_t>(edge.kind)],
                     text_of(edge.through));
}

std::string History::add_writers(std::map<ItemVersion, size_t>& writers) const {
  for (size_t i = 0; i < transactions_.size(); ++i) {
    for (const ItemVersion& write : transactions_[i].writes) {
      const auto [at, is_new] = writers.emplace(write, i);
      if (!is_new) {
        return fmt::format("lost update: {} and {} both wrote {}\n", transactions_[at->second].name,
                           transactions_[i].name, text_of(write));
      }
    }
  }
  for (const auto& [written, writer] : writers) {
    if (written.version > 1 && !writers.contains({written.item, written.version - 1})) {
      return fmt::format("{} wrote {}, and nobody who committed wrote the version before\n",
                         transactions_[writer].name, text_of(written));
    }
  }
  return "";
}

std::string History::add_edges(const std::map<ItemVersion, size_t>& writers, Graph& graph) const {
  const auto next_writer = [&](const ItemVersion& version) {
    return writers.find({version.item, version.version + 1});
  };
  for (const auto& [written, writer] : writers) {
    const auto next = next_writer(written);
    if (next != writers.end() && next->second != writer)
      graph[writer].push_back({next->second, Kind::kWriteWrite, next->first});
  }
  for (size_t reader = 0; reader < transactions_.size(); ++reader) {
    for (const ItemVersion& read : transactions_[reader].reads) {
      const auto writer = writers.find(read);
      if (read.version > 0 && writer == writers.end()) {
        return fmt::format("{} read {}, which nobody who committed wrote\n", transactions_[reader].name,
                           text_of(read));
      }
      const bool is_own = writer != writers.end() && writer->second == reader;
      const auto next = next_writer(read);
      if (writer != writers.end() && !is_own) {
        if (next != writers.end() && next->second == writer->second) {
          return fmt::format("{} read {}, which its writer {} replaced itself\n", transactions_[reader].name,
                             text_of(read), transactions_[writer->second].name);
        }
        graph[writer->second].push_back({reader, Kind::kWriteRead, read});
      }
      if (next != writers.end() && next->second != reader)
        graph[reader].push_back({next->second, Kind::kReadWrite, read});
    }
  }
  return "";
}

// Takes away all transactions without predecessors, again and again. Those that are left lie on cycles or
// behind them.
std::string History::cycle(const Graph& graph) const {
  std::vector<size_t> before(graph.size(), 0);
  for (const auto& edges : graph) {
    for (const Edge& edge : edges) ++before[edge.to];
  }
  std::deque<size_t> free;
  for (size_t i = 0; i < graph.size(); ++i) {
    if (before[i] == 0) free.push_back(i);
  }
  size_t taken = 0;
  for (; !free.empty(); free.pop_front(), ++taken) {
    for (const Edge& edge : graph[free.front()]) {
      if (--before[edge.to] == 0) free.push_back(edge.to);
    }
  }
  if (taken == graph.size()) return "";

  // The shortest way back to any of them that has one.
  std::vector<std::pair<size_t, const Edge*>> shortest;
  for (size_t start = 0; start < graph.size(); ++start) {
    if (before[start] == 0) continue;
    std::map<size_t, std::pair<size_t, const Edge*>> reached_by;
    std::deque<size_t> next{start};
    while (!next.empty() && !reached_by.contains(start)) {
      const size_t at = next.front();
      next.pop_front();
      for (const Edge& edge : graph[at]) {
        if (before[edge.to] > 0 && reached_by.try_emplace(edge.to, at, &edge).second) next.push_back(edge.to);
      }
    }
    if (!reached_by.contains(start)) continue;
    std::vector<std::pair<size_t, const Edge*>> way;
    size_t at = start;
    do {
      way.push_back(reached_by.at(at));
      at = way.back().first;
    } while (at != start);
    if (shortest.empty() || way.size() < shortest.size()) shortest = std::move(way);
  }
  std::string text = fmt::format("a cycle of {} transactions:\n", shortest.size());
  for (auto step = shortest.rbegin(); step != shortest.rend(); ++step)
    text += edge_text(step->first, *step->second);
  return text;
}

std::string History::fault() const {
  std::map<ItemVersion, size_t> writers;
  if (std::string fault = add_writers(writers); !fault.empty()) return fault;
  Graph graph(transactions_.size());
  if (std::string fault = add_edges(writers, graph); !fault.empty()) return fault;
  return cycle(graph);
}

std::string History::fault_of_places() const {
  std::map<ItemVersion, size_t> writers;
  Graph graph(transactions_.size());
  if (!add_writers(writers).empty() || !add_edges(writers, graph).empty()) return "";
  for (size_t from = 0; from < graph.size(); ++from) {
    for (const Edge& edge : graph[from]) {
      const auto& before = transactions_[from].place;
      const auto& after = transactions_[edge.to].place;
      if (before && after && *before >= *after) {
        return fmt::format("{} claims place {}, and {} claims {}, but:\n{}", transactions_[from].name,
                           *before, transactions_[edge.to].name, *after, edge_text(from, edge));
      }
    }
  }
  return "";
}

size_t History::dependencies() const {
  std::map<ItemVersion, size_t> writers;
  Graph graph(transactions_.size());
  (void)add_writers(writers);
  (void)add_edges(writers, graph);
  size_t count = 0;
  for (const auto& edges : graph) count += edges.size();
  return count;
}

}  // namespace mneme::test
