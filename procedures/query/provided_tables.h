// Provided tables: tables that a query reads and that are none of the database's: what describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/function_ref.h"
#include "base/memory/arena.h"
#include "engine/schema/value.h"
#include "procedures/ir/sql_error.h"
#include "procedures/query/query_plan.h"

namespace mneme::syntax {
struct Query;
}

namespace mneme::query {

class ProvidedTables {
 public:
  virtual ~ProvidedTables() = default;

  // The number of such a table; nothing where there is none. `schema`: as written, empty where it is not.
  virtual std::optional<uint32_t> find(const std::string& schema, const std::string& name) const = 0;
  virtual std::span<const Column> columns(uint32_t table) const = 0;
  // Visits the table's rows; their text lives until `visit` returns.
  virtual void visit(uint32_t table, FunctionRef<void(std::span<const Value>)> visit) const = 0;

  // A query that has a name, and names for its columns; nothing where there is none.
  struct View {
    std::shared_ptr<const syntax::Query> query;
    std::span<const std::string> columns;
  };
  virtual std::optional<View> find_view(const std::string& schema, const std::string& name) const = 0;

  // Whether the table has no row ever, as it describes what there is none of.
  virtual bool is_always_empty(uint32_t table) const = 0;

  // A function of so many arguments, and what it returns: oids and numbers come as bigint, anything else as
  // text, where the caller's arguments are not of the types here.
  struct Function {
    uint32_t number;
    std::span<const Type> arguments;
    Type result;
    std::optional<size_t> like = std::nullopt;  // the argument whose type the result has, an array
    bool compares = false;                      // the elements of arrays, by their text
    bool is_volatile = false;                   // gives another value each time
  };
  virtual std::optional<Function> find_function(const std::string& name, size_t arguments) const = 0;
  // Text of the result lies in the arena or lives as long as the provider. Returns false where the function
  // fails: `error` says why.
  [[nodiscard]] virtual bool call(uint32_t function, std::span<const Value> arguments, Arena& arena,
                                  Value& result, SqlError& error) const = 0;
  // The function or procedure of that name, as it is run; nullptr where there is none, or a query may not run
  // it. It lives as long as the catalog.
  virtual const ir::Procedure* find_routine(const std::string& name) const = 0;
  // The oid of a table, an index, a type ... by its name, as ::regclass and its kind have it.
  virtual std::optional<int64_t> find_object(const std::string& type, const std::string& name) const = 0;
};

}  // namespace mneme::query
