#include "logging/buffer/grasshopper_list.h"

namespace mneme {

void GrasshopperList::append(const Record& record) {
  Records::Node* const before = records_.last();
  DCHECK(before->item.end <= record.begin);
  records_.append(record);
  const uint64_t range = record.begin.value >> hop_shift_;
  if (range > last_range_) hops_.append({range, record.begin, before});
  last_range_ = range;
}

void GrasshopperList::collect_oldest() {
  const StreamPosition begin = records_.oldest()->begin;
  records_.collect_oldest();
  while (const Hop* hop = hops_.oldest()) {
    if (hop->first >= begin) return;
    hops_.collect_oldest();
  }
}

size_t GrasshopperList::collect(StreamPosition sdl) {
  size_t invoked = 0;
  while (const Record* oldest = records_.oldest()) {
    if (oldest->end > sdl) break;  // Spec2
    const Record record = *oldest;
    collect_oldest();
    if (record.callback.function != nullptr) {
      record.callback.function(record.callback.context, record.begin);
      ++invoked;
    }
  }
  return invoked;
}

void GrasshopperList::collect_silent(StreamPosition sdl) {
  while (const Record* oldest = records_.oldest()) {
    if (oldest->end > sdl || oldest->callback.function != nullptr) return;
    collect_oldest();
  }
}

void GrasshopperList::pop() {
  const uint64_t range = records_.first()->begin.value >> hop_shift_;
  records_.pop();
  while (const Hop* hop = hops_.first()) {
    if (hop->range > range) return;
    hops_.pop();
  }
}

StreamPosition GrasshopperList::hop_to(uint64_t range) {
  const StreamPosition boundary{range << hop_shift_};
  while (const Hop* hop = hops_.first()) {
    if (hop->range >= range) break;
    hops_.pop();
  }
  Records::Node* last = nullptr;  // the last one that begins below the boundary
  if (const Hop* hop = hops_.first()) {
    last = hop->before;
  } else if (Records::Node* const tail = records_.tail(); tail->item.begin < boundary) {
    last = tail;
  } else if (const Hop* late = hops_.first()) {  // it came between the two looks
    last = late->before;
  } else {  // its worker stands between the two lists
    last = records_.head();
    while (last->next->item.begin < boundary) last = last->next;
  }
  DCHECK(last->item.begin <= boundary);
  records_.move_head(last);
  return last->item.end;
}

}  // namespace mneme
