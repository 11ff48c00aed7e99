#include "engine/node_pool.h"

namespace mneme {

NodeWord* NodePool::take() {
  std::lock_guard lock(mutex_);
  if (!given_back_.empty()) {
    NodeWord* node = given_back_.back();
    given_back_.pop_back();
    return node;
  }
  if (piece_left_ < node_bytes_) {
    std::byte* piece = memory_.allocate(kHugePageBytes);
    if (piece == nullptr) return nullptr;
    piece_ = piece;
    piece_left_ = kHugePageBytes;
  }
  auto* node = reinterpret_cast<NodeWord*>(piece_);
  piece_ += node_bytes_;
  piece_left_ -= node_bytes_;
  return node;
}

void NodePool::give_back(NodeWord* node) {
  std::lock_guard lock(mutex_);
  given_back_.push_back(node);
}

}  // namespace mneme
