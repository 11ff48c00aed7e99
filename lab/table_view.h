// TableView: the rows of a database as text, and what has changed in them since it last looked.
//
// Threads     one, and no transaction is at work on the rows meanwhile but between two of its steps.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/transaction/database.h"

namespace mneme::lab {

using Json = nlohmann::ordered_json;

// [{"name", "columns": [{"name", "type"}], "key": [NAME...]}]
Json describe_tables(const Database& database);

class TableView {
 public:
  // It has seen no row yet.
  explicit TableView(const Database& database) : database_(database), seen_(database.table_count()) {}

  // Returns [{"table", "slot", "before": [TEXT...] or null, "after": [TEXT...] or null}], by table and slot;
  // a NULL is null.
  Json changes();
  // Returns the rows by table: [{"table", "rows": [[TEXT...]...]}].
  Json rows() const;

 private:
  struct SeenTable {
    std::vector<Json> values;  // by slot; null: no live row
  };

  Json values(TableId table, const std::byte* image) const;

  const Database& database_;
  std::vector<SeenTable> seen_;
};

}  // namespace mneme::lab
