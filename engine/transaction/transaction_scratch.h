// TransactionScratch: what a running transaction notes down: its sets, its memory, the record that it makes.
//
// Invariants  empty between transactions, and every vector keeps its capacity: in the steady state a
//             transaction allocates nothing. The transaction notes what it has linked, claimed or locked only
//             afterwards, in room that was made before: so running out of memory leaves nothing behind that
//             undo() misses.
// Threads     one: the thread that runs the worker's transactions.
#pragma once

#include <vector>

#include "base/memory/arena.h"
#include "engine/schema/change_codec.h"
#include "engine/schema/long_text.h"
#include "engine/table/indexed_table.h"
#include "engine/transaction/pointer_map.h"
#include "engine/transaction/prefetcher.h"

namespace mneme {

// The sets of one transaction; see transaction.h. Under two-phase locking there is no read set.
struct ReadEntry {
  const Row* row;
  RowWord version;
};
struct WriteEntry {
  Row* row;
  IndexedTable* table;
  RowWord expected;  // before this transaction, its claim left out
  std::byte* image;  // the new one, or the last one of an erased row
  ImageParts parts;  // of the image that are there: read, or made
  ImageParts dirty;  // those that are to be written, all of them there
  bool is_erased;
  bool is_claimed;
  bool is_fresh;  // its slot was allocated for it
};
struct LockEntry {
  Row* row;
  RowWord expected;
};
struct CreatedEntry {
  const TableIndex* index;
  IndexedTable* table;
  Row* row;
  size_t first_word;  // of its key, in created_words
};

struct TransactionScratch {
  Arena arena;
  std::vector<ReadEntry> reads;
  std::vector<WriteEntry> writes;
  std::vector<CreatedEntry> created;
  std::vector<uint64_t> created_words;  // of one entry's key after the other
  std::vector<NodeVersion> nodes;
  std::vector<LockEntry> lock_order;
  NodeChanges changes;
  PointerMap write_of_row;
  PointerMap node_of_word;
  Prefetcher prefetcher;
  ChangeRecord record;  // where rows are logged
  // The texts that the new images' cells point to, until rows own them.
  std::vector<LongText*> texts;

  // Makes room for the notes on one more row and one more entry.
  void make_room() {
    make_room_in(writes);
    make_room_for_entry();
    write_of_row.make_room();
  }
  void make_room_for_entry() {
    make_room_in(created);
    make_room_in(created_words, kMaxKeyWords);
  }
  // Makes what the image borrows in this column, which lies in a cell, this transaction's. False: no memory.
  bool own_text(const RowLayout& layout, std::byte* image, ColumnId column) {
    if (TextCell::outside(layout.cell(image, column)) == nullptr) return true;
    make_room_in(texts);
    LongText* const text = TextCell::own(layout.cell(image, column));
    if (text != nullptr) texts.push_back(text);
    return text != nullptr;
  }
  // There is room for it.
  void add_created(const TableIndex& index, IndexedTable& table, Row* row, const IndexKey& key) {
    created.push_back({&index, &table, row, created_words.size()});
    created_words.insert(created_words.end(), key.span().begin(), key.span().end());
  }
  std::span<const uint64_t> key_of(const CreatedEntry& entry) const {
    return std::span(created_words).subspan(entry.first_word, entry.index->index->key_words());
  }
  // At the transaction's end. What was looked up ahead stays until the next one begins.
  void clear() {
    reads.clear();
    writes.clear();
    created.clear();
    created_words.clear();
    nodes.clear();
    changes.clear();
    write_of_row.clear();
    node_of_word.clear();
    for (LongText* text : texts) {
      if (!text->is_installed()) text->release();
    }
    texts.clear();
    arena.reset();
  }

 private:
  template <typename T>
  static void make_room_in(std::vector<T>& list, size_t count = 1) {
    if (list.capacity() - list.size() < count) list.reserve(2 * list.size() + 16 + count);
  }
};

}  // namespace mneme
