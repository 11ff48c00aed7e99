// --log: what the records of a database's log hold.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/record/record_content.h"

namespace mneme {

// `besides`: what else the command takes, for the sentence that lists the choices; may be empty.
inline Result<RecordContent> record_content_option(const std::string& name, std::string_view besides) {
  if (const auto content = record_content(name)) return *content;
  return invalid_argument("--log {}: there are {}{}{}", name, fmt::join(kRecordContentNames, ", "),
                          besides.empty() ? "" : ", ", besides);
}

}  // namespace mneme
