#include "procedures/catalog/activity_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/session_activity.h"

namespace mneme {
namespace {

// No name in SQL has one of them in it, nor has what a client is shown by.
constexpr char kActivityMark = '\t';
constexpr char kFieldEnd = '\x1f';
constexpr size_t kNumbers = 6;

std::string without_marks(std::string text) {
  std::ranges::replace(text, kFieldEnd, ' ');
  return text;
}

std::string activity_name(size_t number) {
  return kActivityMark + std::to_string(number);
}

// Takes what stands before the next kFieldEnd, or all.
std::string_view take_field(std::string_view& text) {
  const size_t end = std::min(text.find(kFieldEnd), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

int64_t take_number(std::string_view& text) {
  const std::string_view field = take_field(text);
  int64_t number = 0;
  std::from_chars(field.data(), field.data() + field.size(), number);
  return number;
}

}  // namespace

void set_activities(SessionValues& session, std::span<const SessionActivity> activities) {
  std::erase_if(session, [](const auto& value) { return value.first.starts_with(kActivityMark); });
  const Type type{.kind = TypeKind::kVarchar, .is_text = true};
  for (size_t i = 0; i < activities.size(); ++i) {
    const SessionActivity& each = activities[i];
    std::string text;
    for (const int64_t number :
         std::array<int64_t, kNumbers>{each.pid, each.waits_for_lock ? 1 : 0, each.times.session,
                                       each.times.transaction, each.times.query, each.times.state})
      text += std::to_string(number) + kFieldEnd;
    for (const std::string& field : {each.user, each.database, each.application, each.state})
      text += without_marks(field) + kFieldEnd;
    session[activity_name(i)] = {type, text + each.query};
  }
}

void activity_rows::activities(const SystemCatalog& catalog, RowMaker& rows) {
  for (size_t i = 0;; ++i) {
    const std::string text = catalog.session_text(activity_name(i), "");
    if (text.empty()) return;
    std::string_view rest = text;
    rows.set("datid", oids::kDatabase).set("pid", take_number(rest));
    const bool waits = take_number(rest) != 0;
    for (const char* const column : {"backend_start", "xact_start", "query_start", "state_change"}) {
      if (const int64_t time = take_number(rest); time != 0) rows.set(column, time);
    }
    rows.set("usename", take_field(rest)).set("datname", take_field(rest));
    rows.set("application_name", take_field(rest));
    const std::string_view state = take_field(rest);
    rows.set("state", state).set("query", rest);
    if (waits) {
      rows.set("wait_event_type", "Lock").set("wait_event", "transactionid");
    } else if (state.starts_with("idle")) {
      rows.set("wait_event_type", "Client").set("wait_event", "ClientRead");
    }
    rows.add();
  }
}

}  // namespace mneme
