// Long texts: what a column holds whose texts may be longer than a row has room for.
//
// Cell        what such a column takes of an image: 64 bytes, aligned to 8. It has up to 62 bytes of text,
//             behind two bytes of their number; of a longer text its length, at byte 4, and at byte 8 the
//             address of its bytes, behind the mark 0xffff.
// Ownership   The cell of a table's row owns the text that it points to: a LongText, which nobody changes.
//             It does so whatever the row's word says, so that a slot that is free, or whose row is deleted,
//             has cells without texts, or gives them back when it is used again (table.h). The cell of any
//             other image borrows: what it points to belongs to a row, a transaction, an arena, or a record.
//             Two rows never share a text.
// References  are counted, so that an older image that a checkpoint waits for keeps its texts
//             (version_keeper.h) while the row gets others.
// Threads     Writing a cell is its row's writer's business. A reader copies the cell, and follows it once it
//             knows that the copy is of one version (row.h), so that address and length belong together. It
//             has entered an epoch before it began to copy (epoch.h). The writer puts the new cell into the
//             row, and retires the former text afterwards: whoever has the former address has entered an
//             epoch that is not over, and the bytes stay. Replay, which has its rows to itself, gives them
//             back at once.
// Errors      no memory: make() returns nullptr.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "base/bytes.h"

namespace mneme {

class LongText {
 public:
  // With one reference.
  static LongText* make(std::string_view text);
  // The one whose bytes begin here, in a cell that owns it.
  static LongText* of(const char* bytes) {
    return reinterpret_cast<LongText*>(const_cast<char*>(bytes) - sizeof(LongText));
  }
  LongText(const LongText&) = delete;
  LongText& operator=(const LongText&) = delete;

  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view text() const { return {bytes(), length_}; }

  void keep() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release();

  // A transaction's note on a text that it made: whether a row owns it by now. Its thread's alone.
  bool is_installed() const { return is_installed_; }
  void set_installed() { is_installed_ = true; }

 private:
  explicit LongText(size_t length) : length_(static_cast<uint32_t>(length)) {}

  // Raised by who has a reference (relaxed), lowered by each (release, so that its reads come before the
  // memory goes; the last one acquires).
  std::atomic<uint32_t> references_{1};
  const uint32_t length_;
  bool is_installed_ = false;
};

// A column's cell in an image.
class TextCell {
 public:
  static constexpr uint32_t kBytes = 64;
  static constexpr uint32_t kMostInside = kBytes - sizeof(uint16_t);

  static std::string_view get(const std::byte* cell) {
    if (const char* bytes = outside(cell)) [[unlikely]]
      return {bytes, load<uint32_t>(cell + kLengthAt)};
    return {reinterpret_cast<const char*>(cell + sizeof(uint16_t)), load<uint16_t>(cell)};
  }
  // In an image that is no table's row: a text that does not fit inside is borrowed.
  static void set(std::byte* cell, std::string_view text) {
    if (text.size() > kMostInside) return point_to(cell, text);
    store(cell, static_cast<uint16_t>(text.size()));
    if (!text.empty()) std::memmove(cell + sizeof(uint16_t), text.data(), text.size());
  }
  static void clear(std::byte* cell) { store(cell, uint16_t{0}); }
  // The bytes that the cell points to; nullptr where the text lies inside.
  static const char* outside(const std::byte* cell) {
    return load<uint16_t>(cell) == kOutside ? load<const char*>(cell + kAddressAt) : nullptr;
  }
  static void point_to(std::byte* cell, std::string_view text) {
    store(cell, kOutside);
    store(cell + kLengthAt, static_cast<uint32_t>(text.size()));
    store(cell + kAddressAt, text.data());
  }
  // Gives back what the cell of a row owns, and leaves it empty.
  static void release(std::byte* cell) {
    if (const char* bytes = outside(cell)) LongText::of(bytes)->release();
    clear(cell);
  }
  // In a row: puts a text of its own in the place of the former one, which it gives back. `text` may lie in
  // the cell, or be what it owns. False: no memory, and nothing changed.
  static bool replace(std::byte* cell, std::string_view text);
  // In an image: makes what the cell borrows a LongText that nobody else has, and returns it. nullptr: no
  // memory. The text does not lie inside.
  static LongText* own(std::byte* cell);

 private:
  static constexpr uint16_t kOutside = 0xffff;
  static constexpr uint32_t kLengthAt = 4;
  static constexpr uint32_t kAddressAt = 8;
};

inline LongText* LongText::make(std::string_view text) {
  void* const memory = ::operator new(sizeof(LongText) + text.size(), std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) LongText(text.size());
  std::memcpy(static_cast<std::byte*>(memory) + sizeof(LongText), text.data(), text.size());
  return made;
}

inline void LongText::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  this->~LongText();
  ::operator delete(static_cast<void*>(this));
}

inline bool TextCell::replace(std::byte* cell, std::string_view text) {
  const char* const former = outside(cell);
  if (text.size() > kMostInside) {
    const LongText* const made = LongText::make(text);
    if (made == nullptr) return false;
    point_to(cell, made->text());
  } else {
    set(cell, text);
  }
  if (former != nullptr) LongText::of(former)->release();
  return true;
}

inline LongText* TextCell::own(std::byte* cell) {
  LongText* const made = LongText::make(get(cell));
  if (made != nullptr) point_to(cell, made->text());
  return made;
}

}  // namespace mneme
