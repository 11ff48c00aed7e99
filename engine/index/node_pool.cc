#include "engine/index/node_pool.h"

namespace mneme {

NodePool::~NodePool() {
  for (uint32_t numa_node = 0; numa_node < memory_.numa().nodes; ++numa_node) {
    for (std::byte* piece : shares_[numa_node].pieces) memory_.release(piece);
  }
}

NodeWord* NodePool::take() {
  const uint32_t numa_node = memory_.numa().node();
  Share& share = shares_[numa_node];
  std::lock_guard lock(share.mutex);
  if (!share.given_back.empty()) {
    NodeWord* node = share.given_back.back();
    share.given_back.pop_back();
    return node;
  }
  if (share.piece_left < node_bytes_) {
    const bool is_first = share.pieces.empty();
    std::byte* piece =
        is_first ? memory_.allocate_first(numa_node) : memory_.allocate_on(numa_node, kHugePageBytes);
    if (piece == nullptr) return nullptr;
    share.piece = piece;
    share.piece_left = kHugePageBytes;
    share.is_small = is_first;
    share.pieces.push_back(piece);
  }
  auto* node = reinterpret_cast<NodeWord*>(share.piece);
  share.piece += node_bytes_;
  share.piece_left -= node_bytes_;
  if (share.is_small && kHugePageBytes - share.piece_left > kSmallUseBytes) {
    share.is_small = false;
    memory_.outgrown(share.pieces.front());
  }
  return node;
}

void NodePool::give_back(NodeWord* node) {
  Share& share = shares_[memory_.numa().node()];
  std::lock_guard lock(share.mutex);
  share.given_back.push_back(node);
}

size_t NodePool::memory_bytes() const {
  size_t pieces = 0;
  for (uint32_t numa_node = 0; numa_node < memory_.numa().nodes; ++numa_node) {
    std::lock_guard lock(shares_[numa_node].mutex);
    pieces += shares_[numa_node].pieces.size();
  }
  return pieces * kHugePageBytes;
}

}  // namespace mneme
