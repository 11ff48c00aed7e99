// History: what transactions read and wrote, told by themselves, and whether it could have happened one
// transaction at a time.
//
// Each item carries a version number, which every write of it raises by one and returns. So the order of an
// item's versions is in the data, and nothing that the engine says of its own order (LSNs, row words) is
// needed. The dependencies follow (Adya):
//     write-write   the writer of version v    before  the writer of v + 1
//     write-read    the writer of version v    before  its readers
//     read-write    the readers of version v   before  the writer of v + 1
// The history is serializable if they form no cycle. Besides, no version may be written twice (a lost
// update), nor be read though no committed transaction wrote it, nor be read by others though its writer
// replaced it itself.
//
// Threads  one owner.
// Source   Adya, Liskov, O'Neil: "Generalized Isolation Level Definitions" (ICDE 2000).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mneme::test {

struct ItemVersion {
  uint32_t item = 0;
  uint64_t version = 0;  // 0: as it was before any transaction

  auto operator<=>(const ItemVersion&) const = default;
};

struct HistoryTransaction {
  std::string name;  // for people
  std::vector<ItemVersion> reads{};
  std::vector<ItemVersion> writes{};  // in its order
  std::optional<uint64_t> place{};    // in the order that the engine claims; none: it claims none
};

class History {
 public:
  void add(HistoryTransaction transaction) { transactions_.push_back(std::move(transaction)); }
  size_t size() const { return transactions_.size(); }

  // Returns the steps that show that no serial order explains the history, a line each; empty if one does.
  std::string fault() const;
  // A dependency that goes against the claimed places; empty: there is none.
  std::string fault_of_places() const;
  size_t dependencies() const;

 private:
  enum class Kind : uint8_t { kWriteWrite, kWriteRead, kReadWrite };
  struct Edge {
    size_t to;
    Kind kind;
    ItemVersion through;
  };
  using Graph = std::vector<std::vector<Edge>>;  // by transaction

  std::string add_writers(std::map<ItemVersion, size_t>& writers) const;
  std::string add_edges(const std::map<ItemVersion, size_t>& writers, Graph& graph) const;
  std::string cycle(const Graph& graph) const;
  std::string edge_text(size_t from, const Edge& edge) const;

  std::vector<HistoryTransaction> transactions_;
};

}  // namespace mneme::test
