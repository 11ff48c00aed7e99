// Notices: what procedures say to their client by RAISE NOTICE and its kind, in order.
//
// A run keeps them only where it is given a list: replay gives it none, and what a procedure says is no part
// of what it does.
#pragma once

#include <string>
#include <vector>

#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"

namespace mneme {

struct RaisedNotice {
  ir::RaiseLevel level = ir::RaiseLevel::kNotice;
  std::string sqlstate;
  std::string message;
  std::string detail;
  std::string hint;
};

using Notices = std::vector<RaisedNotice>;

inline void keep_notice(ir::RaiseLevel level, const SqlError& said, Notices& notices) {
  notices.push_back(
      {level, said.sqlstate, std::string(said.message), std::string(said.detail), std::string(said.hint)});
}

}  // namespace mneme
