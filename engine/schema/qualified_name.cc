#include "engine/schema/qualified_name.h"

namespace mneme {

namespace {

// Whether the message says that there is no such object: then people read the name with its schema.
bool is_shown_whole(std::string_view before, std::string_view after) {
  const size_t end = after.find_first_of("\"( ");
  if (end == after.npos) return false;
  std::string_view rest = after.substr(end);
  if (rest.starts_with('"')) {
    const bool is_named = before.ends_with("relation \"") || before.ends_with("type \"");
    return is_named && rest.starts_with("\" does not exist");
  }
  const bool is_called = before.ends_with("function ") || before.ends_with("procedure ");
  return is_called && rest.starts_with('(') && rest.find(") does not exist") != rest.npos;
}

}  // namespace

std::string shown_names(std::string_view text) {
  std::string shown;
  for (size_t begin = text.find(kSchemaBegin); begin != text.npos; begin = text.find(kSchemaBegin)) {
    const size_t end = text.find(kSchemaEnd, begin);
    if (end == text.npos) break;
    const std::string_view schema = text.substr(begin + 1, end - begin - 1);
    shown += text.substr(0, begin);
    text.remove_prefix(end + 1);
    if (schema != kNowhere && is_shown_whole(shown, text)) {
      shown += schema;
      shown.push_back('.');
    }
  }
  shown += text;
  return shown;
}

}  // namespace mneme
