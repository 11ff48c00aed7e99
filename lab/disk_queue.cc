#include "lab/disk_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "logging/record/block_format.h"

namespace mneme::lab {

DiskQueue::DiskQueue(DiskState& state)
    : state_(state),
      cache_([this](int name, uint64_t offset, ByteSpan bytes) { return write_sector(name, offset, bytes); },
             state.seed) {}

int DiskQueue::attach(int handle) {
  files_.emplace(next_name_, handle);
  return next_name_++;
}

void DiskQueue::submit(const IoChain& chain) {
  ended_.push_back(run(chain));
}

void DiskQueue::wait(std::chrono::nanoseconds, std::vector<IoCompletion>& ended) {
  ended.insert(ended.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

IoCompletion DiskQueue::run(const IoChain& chain) {
  using Failure = IoCompletion::Failure;
  Json blocks = Json::array();
  uint32_t segment = 0;
  for (size_t at = 0; at < chain.bytes.size(); at += kBlockBytes) {
    const auto header = BlockHeader::decode(chain.bytes.subspan(at, kBlockBytes));
    if (!header) continue;
    segment = header->segment;
    blocks.push_back({{"block", header->index},
                      {"begin", header->begin.value},
                      {"used", header->used_bytes},
                      {"durable", header->durable.value}});
  }
  segments_[chain.file] = segment;
  for (size_t at = 0; at < chain.bytes.size(); at += kSectorBytes) {
    const ByteSpan sector = chain.bytes.subspan(at, std::min(kSectorBytes, chain.bytes.size() - at));
    state_.unsynced.push_back({segment, chain.offset + at, {sector.begin(), sector.end()}});
  }
  if (const int error = cache_.put(chain.file, chain.offset, chain.bytes); error != 0)
    return {chain.tag, Failure::kWrite, error};
  add({{"kind", "write"},
       {"segment", segment},
       {"offset", chain.offset},
       {"bytes", chain.bytes.size()},
       {"blocks", std::move(blocks)}});
  if (chain.durability != IoChain::Durability::kNone) {
    if (const int error = cache_.sync(chain.file); error != 0) return {chain.tag, Failure::kSync, error};
    add({{"kind", "synced"}, {"segment", segment}});
  }
  return {chain.tag, Failure::kNone, 0};
}

int DiskQueue::write_sector(int name, uint64_t offset, ByteSpan bytes) {
  const ssize_t written = ::pwrite(files_.at(name), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (written < 0) return errno;
  if (static_cast<size_t>(written) != bytes.size()) return ENOSPC;
  const uint32_t segment = segments_[name];
  std::erase_if(state_.unsynced, [&](const UnsyncedSector& sector) {
    return sector.segment == segment && sector.offset == offset;
  });
  add({{"kind", "sector"}, {"segment", segment}, {"offset", offset}});
  return 0;
}

}  // namespace mneme::lab
