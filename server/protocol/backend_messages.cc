#include "server/protocol/backend_messages.h"

#include <string>

#include "procedures/catalog/system_catalog.h"
#include "procedures/values/type_oids.h"

namespace mneme {
namespace {

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "DEBUG";
    case Severity::kLog:
      return "LOG";
    case Severity::kInfo:
      return "INFO";
    case Severity::kNotice:
      return "NOTICE";
    case Severity::kWarning:
      return "WARNING";
    case Severity::kError:
      return "ERROR";
    case Severity::kFatal:
      break;
  }
  return "FATAL";
}

}  // namespace

void write_report(const Report& report, MessageWriter& out) {
  const bool is_notice = report.severity <= Severity::kWarning;
  const auto field = [&](char code, std::string_view text) {
    out.u8(static_cast<uint8_t>(code));
    out.text(text);
  };
  out.begin(is_notice ? 'N' : 'E');
  field('S', word_of(report.severity));
  field('V', word_of(report.severity));
  field('C', report.sqlstate);
  field('M', report.message);
  if (!report.detail.empty()) field('D', report.detail);
  if (!report.hint.empty()) field('H', report.hint);
  if (report.position != 0) field('P', std::to_string(report.position));
  if (!report.context.empty()) field('W', report.context);
  if (!report.table.empty()) {
    field('s', report.schema);
    field('t', report.table);
  }
  if (!report.column.empty()) field('c', report.column);
  if (!report.constraint.empty()) field('n', report.constraint);
  if (!report.routine.empty()) field('R', report.routine);
  out.u8(0);
  out.end();
}

void write_notification(uint32_t sender, std::string_view channel, std::string_view payload,
                        MessageWriter& out) {
  out.begin('A');
  out.i32(sender);
  out.text(channel);
  out.text(payload);
  out.end();
}

void write_parameter_status(std::string_view name, std::string_view value, MessageWriter& out) {
  out.begin('S');
  out.text(name);
  out.text(value);
  out.end();
}

void write_ready(char state, MessageWriter& out) {
  out.begin('Z');
  out.u8(static_cast<uint8_t>(state));
  out.end();
}

void write_command_complete(std::string_view tag, MessageWriter& out) {
  out.begin('C');
  out.text(tag);
  out.end();
}

void write_bare(char type, MessageWriter& out) {
  out.begin(type);
  out.end();
}

void write_row_description(std::span<const ResultColumn> columns, std::span<const ValueFormat> formats,
                           MessageWriter& out) {
  out.begin('T');
  out.i16(static_cast<int64_t>(columns.size()));
  for (size_t i = 0; i < columns.size(); ++i) {
    const Type& type = columns[i].type;
    out.text(columns[i].name);
    const std::optional<ColumnOrigin>& origin = columns[i].origin;
    out.i32(origin ? oid_of(origin->table) : 0);
    out.i16(origin ? int64_t{origin->column.value} + 1 : 0);
    out.i32(oid_of(type));
    out.i16(length_of(type));
    out.i32(modifier_of(type));
    out.i16(static_cast<int64_t>(format_of(formats, i)));
  }
  out.end();
}

void write_parameter_description(std::span<const Type> types, MessageWriter& out) {
  out.begin('t');
  out.i16(static_cast<int64_t>(types.size()));
  for (const Type& type : types) out.i32(oid_of(type));
  out.end();
}

void write_data_row(std::span<const ResultColumn> columns, std::span<const Argument> row,
                    std::span<const ValueFormat> formats, MessageWriter& out) {
  out.begin('D');
  out.i16(static_cast<int64_t>(row.size()));
  for (size_t i = 0; i < row.size(); ++i) write_value(columns[i].type, row[i], format_of(formats, i), out);
  out.end();
}

}  // namespace mneme
