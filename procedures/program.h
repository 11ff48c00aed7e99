// Program: what a .sql file means: a catalog and its procedures, bound and typed.
//
//     Result<std::unique_ptr<Program>> program = compile(text, "tpcc.sql");
//
// Errors      one sentence: file:line:column, the construct, and what is accepted instead. The first error ends it.
// Threads     constant once made; any thread may read it.
#pragma once

#include <compare>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/catalog.h"
#include "procedures/ir.h"

namespace mneme {

// A procedure with what only its program needs to know of it.
struct BoundProcedure {
  ir::Procedure procedure;
  std::deque<std::string> strings;  // what text constants point into
  std::string meaning;              // the procedure, printed
};

// A program's procedures, by id. Programs that follow from each other share them.
class Procedures {
 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = ir::Procedure;
    using difference_type = std::ptrdiff_t;
    using pointer = const ir::Procedure*;
    using reference = const ir::Procedure&;

    Iterator() = default;
    explicit Iterator(const std::shared_ptr<const BoundProcedure>* at) : at_(at) {}
    reference operator*() const { return (*at_)->procedure; }
    pointer operator->() const { return &(*at_)->procedure; }
    reference operator[](difference_type n) const { return at_[n]->procedure; }
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
    friend auto operator<=>(Iterator a, Iterator b) = default;

   private:
    const std::shared_ptr<const BoundProcedure>* at_ = nullptr;
  };

  size_t size() const { return bound_.size(); }
  bool empty() const { return bound_.empty(); }
  const ir::Procedure& operator[](size_t id) const { return bound_[id]->procedure; }
  const BoundProcedure& bound(size_t id) const { return *bound_[id]; }
  Iterator begin() const { return Iterator(bound_.data()); }
  Iterator end() const { return Iterator(bound_.data() + bound_.size()); }
  void push_back(std::shared_ptr<const BoundProcedure> procedure) { bound_.push_back(std::move(procedure)); }

 private:
  std::vector<std::shared_ptr<const BoundProcedure>> bound_;
};

// SQL text in pieces, which the programs that follow from each other share.
class SourceText {
 public:
  void add(std::string piece);
  std::string text() const;
  size_t lines() const { return lines_; }  // ends of lines

 private:
  std::vector<std::shared_ptr<const std::string>> pieces_;
  size_t lines_ = 0;
};

struct Program {
  Catalog catalog;
  Procedures procedures;
  SourceText source;  // as kept in the data directory
  // Each definition in the source ends in a semicolon, and nothing follows the last: another one may be added.
  bool takes_definitions = false;
  uint64_t hash = 0;  // of the source's meaning to the log: stamped on each of its files

  const ir::Procedure* find_procedure(std::string_view name) const;
  const ir::Procedure& procedure(ProcedureId id) const { return procedures[id.value]; }
};

Result<std::unique_ptr<Program>> compile(std::string_view source, std::string_view file_name);

// The same, but throws the SourceError.
std::unique_ptr<Program> compile_source(std::string_view source);

// The program that has one more definition, which is the last of its kind, and in whose light no other definition changes its meaning: a table;
// a procedure; an index of a table that no procedure uses. It takes the time for that definition, and not for all of them.
// `program` takes definitions. Throws the SourceError, with lines that count from the definition's first.
std::unique_ptr<Program> with_definition(const Program& program, std::string_view definition);

}  // namespace mneme
