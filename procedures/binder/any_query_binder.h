// The door to queries of any form, for the binder of procedures: what they cannot say themselves is bound as
// a session's query is.
//
// Defined by the room that has such queries and their functions (catalog/any_query.cc).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/binder/names.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/syntax.h"

namespace mneme {

struct BoundAnyQuery {
  std::shared_ptr<const AnyQuery> query;
  std::vector<std::string> names;  // of its columns
  std::vector<Type> types;
  std::vector<VariableId> uses;  // the procedure's variables that it reads
};

// `names`: of the procedure, whose variables the query may read; it may add some. `targets`: as bind_select()
// has them, or nullptr. Throws SourceError.
BoundAnyQuery bind_any_query(const Catalog& catalog, Names& names, std::deque<std::string>& strings,
                             const syntax::Query& query, const std::vector<std::optional<Type>>* targets);

}  // namespace mneme
