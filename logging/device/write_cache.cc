#include "logging/device/write_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "logging/record/block_format.h"

namespace mneme {

namespace {

// So many sectors, of which about half are written back early together: what one write of a block takes.
constexpr size_t kEarlySectors = kBlockBytes / kSectorBytes;

}  // namespace

WriteCache::WriteCache(Medium medium, uint64_t seed) : medium_(std::move(medium)), random_(seed) {}

int WriteCache::put(int file, uint64_t offset, ByteSpan bytes) {
  int error = 0;
  for (size_t at = 0; at < bytes.size(); at += kSectorBytes) {
    const ByteSpan sector = bytes.subspan(at, std::min(kSectorBytes, bytes.size() - at));
    sectors_[{file, offset + at}].assign(sector.begin(), sector.end());
    if (sectors_.size() <= kMostSectors || error != 0) continue;
    const auto first = sectors_.begin();
    error = medium_(first->first.file, first->first.offset, first->second);
    if (error == 0) sectors_.erase(first);
  }
  return error;
}

int WriteCache::write_back_early() {
  if (sectors_.empty()) return 0;
  auto next = std::next(sectors_.begin(), static_cast<ptrdiff_t>(random_() % sectors_.size()));
  for (size_t i = 0; i < kEarlySectors && next != sectors_.end(); ++i) {
    const auto each = next++;
    if (random_() % 2 == 0) continue;
    if (const int error = medium_(each->first.file, each->first.offset, each->second); error != 0)
      return error;
    sectors_.erase(each);
  }
  return 0;
}

int WriteCache::sync(int file) {
  const auto begin = sectors_.lower_bound({file, 0});
  const auto end = sectors_.lower_bound({file + 1, 0});
  std::vector<std::map<Place, std::vector<std::byte>>::iterator> order;
  for (auto each = begin; each != end; ++each) order.push_back(each);
  // Not std::shuffle, whose order differs from library to library.
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random_() % left]);
  for (const auto& each : order) {
    if (const int error = medium_(file, each->first.offset, each->second); error != 0) return error;
  }
  sectors_.erase(begin, end);
  return 0;
}

}  // namespace mneme
