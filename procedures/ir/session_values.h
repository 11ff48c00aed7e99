// Session values: what a client's session says of itself, by the functions that ask for it: version(),
// current_user ...
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/schema/type.h"

namespace mneme {

// The text of a literal of the type.
struct SessionValue {
  Type type;
  std::string text;
};
// By the function's name.
using SessionValues = std::map<std::string, SessionValue, std::less<>>;

}  // namespace mneme
