// NodePool: index nodes of one size, on huge pages, that stay index nodes for ever.
//
// A node given back keeps its version word, and the thread that takes it next raises the version further. So
// an optimistic reader that comes late to a recycled node reads valid memory (all of it atomic words), finds
// another version, and starts again; a node set that names it fails its validation. That is why nodes need no
// epochs, as rows do: versions never repeat, while a row that is being inserted always looks the same.
//
// NUMA        a node that a thread takes lies on the NUMA node that the thread runs on, unless it was given
//             back by a thread that had moved there.
// Threads     any. Waiting: a mutex a NUMA node, once in as many inserts as fill an index node.
// Errors      no memory: take() gives nullptr.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/cache_line.h"
#include "base/memory/huge_pages.h"

namespace mneme {

// All that readers may look at while a writer changes it is a word of this type; loads acquire, stores
// release.
using NodeWord = std::atomic<uint64_t>;

class NodePool {
 public:
  // `node_bytes` is a multiple of a cache line, at most a huge page.
  NodePool(size_t node_bytes, HugePageSource& memory)
      : node_bytes_(node_bytes), memory_(memory), shares_(std::make_unique<Share[]>(memory.numa().nodes)) {}

  // Its nodes are gone: no thread reads them any more.
  ~NodePool();
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;

  // A node no index uses: zeroed if it is new, else as it was given back.
  NodeWord* take();
  void give_back(NodeWord* node);

  size_t node_words() const { return node_bytes_ / sizeof(NodeWord); }
  // Returns the memory of all nodes, and of room for more.
  size_t memory_bytes() const;

 private:
  const size_t node_bytes_;
  HugePageSource& memory_;

  // The part of one NUMA node.
  struct alignas(kCacheLineBytes) Share {
    std::mutex mutex;
    // Guarded by mutex.
    std::vector<NodeWord*> given_back;
    std::byte* piece = nullptr;
    bool is_small = false;  // the first piece, as long as little of it is in use
    size_t piece_left = 0;
    std::vector<std::byte*> pieces;
  };
  const std::unique_ptr<Share[]> shares_;
};

}  // namespace mneme
