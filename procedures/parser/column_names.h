// Column names: how PostgreSQL names the columns of a result.
//
// Source      PostgreSQL 15, FigureColname() in parse_target.c.
#pragma once

#include <string>

#include "procedures/parser/syntax.h"

namespace mneme {

// Returns the item's alias. Without one, returns the name that PostgreSQL makes of the expression, or "" if
// it would print ?column?.
std::string column_name_of(const syntax::SelectItem& item);

}  // namespace mneme
