// Number sources: what each sequence of a database gives next.
//
// Rule        a sequence's row (catalog.h) says up to which number it may have been drawn from; it is written
//             ahead, by a transaction that draws beyond it, together with that transaction's own rows. So no
//             number that a committed row may hold is given again after a crash, and what was drawn ahead is
//             left out.
// Count       draws are counted since the row was read, so that a sequence may go down, or round.
// Invariants  a number is given once, whether the transaction that drew it commits or not. A transaction that
//             draws beyond what is logged writes the row, until one that did is committed: only then is
//             `logged` raised.
// Threads     any number; each source has a mutex, as only the statements of sessions draw numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mneme {

class NumberSource {
 public:
  std::mutex mutex;
  bool is_known = false;   // the row has been read
  int64_t last = 1;        // the number that was drawn last or,
  bool is_called = false;  // where none was, the first one
  int64_t draws = 0;
  int64_t logged = 0;  // draws that a committed row covers
};

class NumberSources {
 public:
  std::shared_ptr<NumberSource> source(const std::string& sequence) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<NumberSource>& made = sources_[sequence];
    if (made == nullptr) made = std::make_shared<NumberSource>();
    return made;
  }
  // The sequence is dropped: another one may get its name.
  void forget(const std::string& sequence) {
    const std::lock_guard lock(mutex_);
    sources_.erase(sequence);
  }
  void rename(const std::string& former, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = sources_.find(former); found != sources_.end())
      sources_[name] = std::move(found->second);
    sources_.erase(former);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<NumberSource>> sources_;
};

}  // namespace mneme
