// Backend messages: what a server says in PostgreSQL's protocol, appended to the bytes for one client.
//
// Source      PostgreSQL 15, chapter 55.7 (message formats).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "procedures/binder/command_binder.h"
#include "server/protocol/value_format.h"
#include "server/protocol/wire.h"

namespace mneme {

enum class Severity : uint8_t { kDebug, kLog, kInfo, kNotice, kWarning, kError, kFatal };

struct Report {
  Severity severity = Severity::kError;
  std::string_view sqlstate;
  std::string_view message;
  std::string_view detail{};
  std::string_view hint{};
  std::string_view context{};
  std::string_view schema = "public";  // the table's
  std::string_view table{};
  std::string_view column{};
  std::string_view constraint{};
  std::string_view routine{};  // PostgreSQL's, by which some drivers know an error
  uint32_t position = 0;       // of the character in the query, from 1; 0: none
};

// ErrorResponse, or NoticeResponse.
void write_report(const Report& report, MessageWriter& out);
void write_parameter_status(std::string_view name, std::string_view value, MessageWriter& out);
// `sender`: the session's number, as BackendKeyData has it.
void write_notification(uint32_t sender, std::string_view channel, std::string_view payload,
                        MessageWriter& out);
// 'I': idle, 'T': in a block, 'E': in one that has failed.
void write_ready(char state, MessageWriter& out);
void write_command_complete(std::string_view tag, MessageWriter& out);
// A message without fields: ParseComplete '1', BindComplete '2', CloseComplete '3', NoData 'n',
// EmptyQueryResponse 'I', PortalSuspended 's'.
void write_bare(char type, MessageWriter& out);
// `formats`: one for all columns, or one each; none: text.
void write_row_description(std::span<const ResultColumn> columns, std::span<const ValueFormat> formats,
                           MessageWriter& out);
void write_parameter_description(std::span<const Type> types, MessageWriter& out);
void write_data_row(std::span<const ResultColumn> columns, std::span<const Argument> row,
                    std::span<const ValueFormat> formats, MessageWriter& out);

inline ValueFormat format_of(std::span<const ValueFormat> formats, size_t n) {
  if (formats.size() == 1) return formats[0];
  return n < formats.size() ? formats[n] : ValueFormat::kText;
}

}  // namespace mneme
