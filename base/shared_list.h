// SharedList: a list whose copies share their elements: a copy, or one more element, takes the time for a few
// chunks, not for the list.
//
// Invariants  elements are constant; change() puts a changed copy in an element's place.
// Threads     as std::vector. Lists that share elements may belong to different threads.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace mneme {

template <typename T>
class SharedList {
 public:
  using Shared = std::shared_ptr<const T>;

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    Iterator(const SharedList* list, difference_type at) : list_(list), at_(at) {}
    reference operator*() const { return (*list_)[static_cast<size_t>(at_)]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this + -1); }
    Iterator& operator+=(difference_type n) {
      at_ += n;
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    friend Iterator operator+(Iterator a, difference_type n) { return a += n; }
    friend Iterator operator+(difference_type n, Iterator a) { return a += n; }
    friend Iterator operator-(Iterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(Iterator a, Iterator b) { return a.at_ - b.at_; }
    friend bool operator==(Iterator a, Iterator b) { return a.at_ == b.at_; }
    friend auto operator<=>(Iterator a, Iterator b) { return a.at_ <=> b.at_; }

   private:
    const SharedList* list_ = nullptr;
    difference_type at_ = 0;
  };

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return *shared(i); }
  const T& back() const { return (*this)[size_ - 1]; }
  const Shared& shared(size_t i) const { return (*chunks_[i / kChunk])[i % kChunk]; }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, static_cast<std::ptrdiff_t>(size_)); }

  void push_back(Shared element) {
    if (size_ % kChunk == 0) chunks_.push_back(std::make_shared<Chunk>());
    own(size_ / kChunk).push_back(std::move(element));
    ++size_;
  }
  void push_back(T element) { push_back(std::make_shared<const T>(std::move(element))); }
  // In the place of element i, or behind the last.
  void put(size_t i, Shared element) {
    if (i == size_) return push_back(std::move(element));
    own(i / kChunk)[i % kChunk] = std::move(element);
  }
  template <typename Change>
  void change(size_t i, Change&& change) {
    auto changed = std::make_shared<T>((*this)[i]);
    change(*changed);
    put(i, std::move(changed));
  }
  void resize_down(size_t size) {
    size_ = std::min(size, size_);
    chunks_.resize((size_ + kChunk - 1) / kChunk);
    if (size_ % kChunk != 0) own(size_ / kChunk).resize(size_ % kChunk);
  }
  void erase(size_t i) {
    const SharedList all = *this;
    resize_down(i);
    for (++i; i < all.size(); ++i) push_back(all.shared(i));
  }

 private:
  static constexpr size_t kChunk = 64;
  using Chunk = std::vector<Shared>;

  // The chunk, which no other list has any more.
  Chunk& own(size_t chunk) {
    if (chunks_[chunk].use_count() > 1) chunks_[chunk] = std::make_shared<Chunk>(*chunks_[chunk]);
    return *chunks_[chunk];
  }

  std::vector<std::shared_ptr<Chunk>> chunks_;
  size_t size_ = 0;
};

}  // namespace mneme
