#include "workloads/own/own_workload.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>

#include "base/file/file.h"
#include "procedures/interpreter/call_codec.h"
#include "workloads/shared/check_query.h"

namespace mneme {
namespace {

constexpr uint64_t kPartRows = 10'000;
constexpr uint64_t kMostRows = 1'000'000'000'000;
// `=number` of a call: the incarnation, and below it the position among the calls of all its streams.
constexpr int kPositionBits = 40;

// The line's first field: a name, and how many calls or rows it stands for.
struct Subject {
  std::string_view name;
  std::optional<uint64_t> count;
};

Result<Subject> parse_subject(std::string_view field) {
  const size_t star = field.find('*');
  Subject subject{field.substr(0, star), std::nullopt};
  if (star == std::string_view::npos) return subject;
  const std::string_view digits = field.substr(star + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), subject.count.emplace());
  if (error != std::errc() || end != digits.data() + digits.size() || *subject.count == 0 ||
      *subject.count > kMostRows) {
    return invalid_argument("'{}' is not NAME*COUNT with a count of 1 or more", field);
  }
  return subject;
}

Result<DrawnValue> parse_field(const Type& type, const CsvField& field, int64_t most, Arena& kept) {
  if (field.text.empty() && !field.quoted) return DrawnValue::null();
  return DrawnValue::parse(type, field.text, most, kept);
}

std::string parameters_text(const ir::Procedure& procedure) {
  std::vector<std::string> parameters;
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    parameters.push_back(fmt::format("{}{}", to_string(argument_type(procedure, i)),
                                     procedure.parameters[i].inout ? " INOUT" : ""));
  }
  return fmt::format("{}", fmt::join(parameters, ", "));
}

// Every record of a file, but for a heading: a first one that begins with one of the words that name the
// first column.
Result<void> for_each_line(const WorkloadFiles& files, const std::string& path,
                           FunctionRef<Result<void>(std::span<const CsvField>)> visit) {
  const Result<std::string> text = files.read(path);
  if (!text) return text.error();
  bool is_first = true;
  return for_each_csv_record(*text, path, [&](size_t line, std::span<const CsvField> fields) -> Result<void> {
    const bool may_be_heading = std::exchange(is_first, false);
    if (may_be_heading && (fields[0].text == "procedure" || fields[0].text == "table")) return {};
    if (Result<void> visited = visit(fields); !visited) {
      return Error{visited.error().kind, fmt::format("{}, line {}: {}", path, line, visited.error().message)};
    }
    return {};
  });
}

std::string names_of(const auto& all) {
  std::vector<std::string_view> names;
  for (const auto& each : all) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

class OwnGenerator : public CallGenerator {
 public:
  OwnGenerator(const OwnWorkload& workload, const StreamId& stream) : workload_(workload), stream_(stream) {}

  const Call& call(uint64_t position) override {
    Random random({workload_.seed_, /*purpose=*/0xca11, stream_.worker, stream_.incarnation, position});
    const uint64_t among_all = position * stream_.worker_count + stream_.worker;
    const OwnWorkload::CallLine& line = choose(random, among_all);
    memory_.reset();
    Drawing drawing{random, number(among_all), memory_};
    call_.procedure = line.procedure;
    call_.arguments.clear();
    for (const DrawnValue& argument : line.arguments) call_.arguments.push_back(argument.draw(drawing));
    return call_;
  }

 private:
  const OwnWorkload::CallLine& choose(Random& random, uint64_t among_all) const {
    const std::vector<OwnWorkload::CallLine>& lines = workload_.calls_.front().lines;
    if (workload_.in_turn_) return lines[among_all % lines.size()];
    const uint32_t of_procedure = workload_.mix_ ? workload_.mix_->pick(random) : 0;
    return workload_.calls_[of_procedure].draw(random);
  }
  int64_t number(uint64_t among_all) const {
    return static_cast<int64_t>((uint64_t{stream_.incarnation} << kPositionBits) + among_all + 1);
  }

  const OwnWorkload& workload_;
  const StreamId stream_;
  Arena memory_;
  Call call_;
};

void OwnWorkload::Lines::add(CallLine line) {
  line.weights_before = weight;
  weight += line.weight;
  lines.push_back(std::move(line));
}

const OwnWorkload::CallLine& OwnWorkload::Lines::draw(Random& random) const {
  const auto ticket = static_cast<uint64_t>(random.uniform(0, static_cast<int64_t>(weight) - 1));
  const auto behind = std::ranges::upper_bound(lines, ticket, {}, &CallLine::weights_before);
  return *(behind - 1);
}

Result<std::string> WorkloadFiles::read(const std::string& path) const {
  if (directory.empty()) return read_text_file(path);
  if (!std::filesystem::exists(path)) {
    return damaged(
        "{} is missing, which the database keeps for its workload; nothing was changed: put the file back "
        "from a copy of the directory",
        path);
  }
  return read_text_in(directory, path.substr(directory.size() + 1));
}

Result<std::unique_ptr<Workload>> OwnWorkload::make(std::string_view name, const WorkloadFiles& files,
                                                    uint64_t seed, std::string_view mix) {
  Result<std::string> sql = files.read(files.sql);
  if (!sql) return sql.error();
  std::unique_ptr<OwnWorkload> workload(new OwnWorkload(seed));
  workload->name_ = name;
  workload->sql_ = *std::move(sql);
  Result<std::unique_ptr<Program>> program = compile(workload->sql_, files.sql);
  if (!program) return program.error();
  workload->program_ = *std::move(program);
  if (workload->program_->procedures.empty()) {
    return invalid_argument("{} creates no procedure, and a workload is calls of procedures: write one there",
                            files.sql);
  }
  RETURN_IF_ERROR(workload->read_calls(files, mix));
  if (!files.rows.empty()) RETURN_IF_ERROR(workload->read_rows(files));
  if (!files.checks.empty()) {
    const Result<std::string> text = files.read(files.checks);
    if (!text) return text.error();
    Result<std::vector<CheckQuery>> queries = parse_check_queries(*text, files.checks, *workload->program_);
    if (!queries) return queries.error();
    workload->check_queries_ = *std::move(queries);
  }
  return std::unique_ptr<Workload>(std::move(workload));
}

Result<void> OwnWorkload::read_calls(const WorkloadFiles& files, std::string_view mix) {
  Lines& all = calls_.emplace_back();
  RETURN_IF_ERROR(for_each_line(files, files.calls, [&](std::span<const CsvField> fields) -> Result<void> {
    Result<CallLine> line = parse_call(fields, files.sql);
    if (!line) return line.error();
    in_turn_ = in_turn_ && line->weight == 1;
    all.add(*std::move(line));
    return {};
  }));
  if (all.lines.empty())
    return invalid_argument("{} holds no call: write a line for each, PROCEDURE,ARGUMENT,...", files.calls);
  return mix == "default" ? Result<void>() : choose_mix(mix);
}

Result<OwnWorkload::CallLine> OwnWorkload::parse_call(std::span<const CsvField> fields,
                                                      const std::string& sql_file) {
  const Result<Subject> subject = parse_subject(fields[0].text);
  if (!subject) return subject.error();
  const ir::Procedure* procedure = program_->find_procedure(subject->name);
  if (procedure == nullptr) {
    return invalid_argument("there is no procedure '{}': {} creates {}", subject->name, sql_file,
                            names_of(program_->procedures));
  }
  const std::vector<ir::Parameter>& parameters = procedure->parameters;
  const size_t given = fields.size() - 1;
  size_t needed = parameters.size();
  while (needed > 0 && parameters[needed - 1].inout) --needed;
  if (given < needed || given > parameters.size()) {
    return invalid_argument("{}({}) takes {}, and {} given", procedure->name, parameters_text(*procedure),
                            needed == parameters.size()
                                ? fmt::format("{} arguments", needed)
                                : fmt::format("{} to {} arguments", needed, parameters.size()),
                            given == 1 ? "one is" : fmt::format("{} are", given));
  }
  CallLine line{.procedure = procedure->id, .weight = subject->count.value_or(1), .arguments = {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i >= given) {
      line.arguments.push_back(DrawnValue::null());
      continue;
    }
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    Result<DrawnValue> value = parse_field(argument_type(*procedure, i), fields[i + 1], kMost, kept_);
    if (!value)
      return invalid_argument("argument {} of {}: {}", i + 1, procedure->name, value.error().message);
    line.arguments.push_back(*std::move(value));
  }
  return line;
}

// A mix names procedures: of each its lines apart.
Result<void> OwnWorkload::choose_mix(std::string_view mix) {
  Lines all = std::move(calls_.front());
  calls_.clear();
  std::vector<MixShare> shares;
  for (const ir::Procedure& procedure : program_->procedures) {
    Lines own;
    for (CallLine& line : all.lines) {
      if (line.procedure == procedure.id) own.add(std::move(line));
    }
    if (own.lines.empty()) continue;
    shares.push_back({procedure.name, 0});
    calls_.push_back(std::move(own));
  }
  const Result<Mix> parsed = Mix::parse(mix, shares);
  if (!parsed) return parsed.error();
  mix_ = *parsed;
  in_turn_ = false;
  return {};
}

Result<void> OwnWorkload::read_rows(const WorkloadFiles& files) {
  return for_each_line(files, files.rows, [&](std::span<const CsvField> fields) -> Result<void> {
    Result<RowLine> line = parse_row(fields);
    if (!line) return line.error();
    rows_.push_back(*std::move(line));
    return {};
  });
}

Result<OwnWorkload::RowLine> OwnWorkload::parse_row(std::span<const CsvField> fields) {
  const Result<Subject> subject = parse_subject(fields[0].text);
  if (!subject) return subject.error();
  const TableDefinition* table = program_->catalog.find_table(subject->name);
  if (table == nullptr) {
    return invalid_argument("there is no table '{}': there are {}", subject->name,
                            names_of(program_->catalog.tables()));
  }
  if (fields.size() - 1 != table->columns.size()) {
    return invalid_argument(
        "{} has {} columns, and {} given", table->name, table->columns.size(),
        fields.size() == 2 ? "one value is" : fmt::format("{} values are", fields.size() - 1));
  }
  const uint64_t count = subject->count.value_or(1);
  RowLine line{table->id, row_count_, {}};
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const Column& column = table->columns[i];
    Result<DrawnValue> value = parse_field(column.type, fields[i + 1], static_cast<int64_t>(count), kept_);
    if (!value)
      return invalid_argument("column {} of {}: {}", column.name, table->name, value.error().message);
    if (!column.nullable && fields[i + 1].text.empty() && !fields[i + 1].quoted) {
      return invalid_argument("column {} of {} is NOT NULL, and no value is given", column.name, table->name);
    }
    const size_t bytes = value->most_bytes(static_cast<int64_t>(count));
    const ColumnId id{static_cast<uint32_t>(i)};
    if (const uint32_t room = column.type.is_string() ? text_room(program_->catalog, *table, id) : 0;
        column.type.is_string() && bytes > room) {
      return invalid_argument("column {} of {}: the value may take {} bytes, and {} has room for {}",
                              column.name, table->name, bytes, to_string(column.type), room);
    }
    line.values.push_back(*std::move(value));
  }
  row_count_ += count;
  if (row_count_ > kMostRows)
    return invalid_argument("these are more than {} rows, all lines together", kMostRows);
  return line;
}

uint32_t OwnWorkload::part_count() const {
  return static_cast<uint32_t>((row_count_ + kPartRows - 1) / kPartRows);
}

void OwnWorkload::populate(uint32_t part, RowSink sink) const {
  const uint64_t begin = part * kPartRows;
  const uint64_t end = std::min(begin + kPartRows, row_count_);
  auto line = std::ranges::upper_bound(rows_, begin, {}, &RowLine::rows_before) - 1;
  Arena memory;
  std::vector<Value> values;
  for (uint64_t row = begin; row < end; ++row) {
    if (line + 1 != rows_.end() && row == (line + 1)->rows_before) ++line;
    Random random({seed_, /*purpose=*/0x10ad, row});
    memory.reset();
    Drawing drawing{random, static_cast<int64_t>(row - line->rows_before + 1), memory};
    values.clear();
    for (const DrawnValue& value : line->values) values.push_back(value.draw(drawing).scalar);
    sink(line->table, values);
  }
}

bool OwnWorkload::calls(ProcedureId procedure) const {
  return std::ranges::any_of(calls_, [&](const Lines& lines) {
    return std::ranges::find(lines.lines, procedure, &CallLine::procedure) != lines.lines.end();
  });
}

std::vector<MixShare> OwnWorkload::mix() const {
  std::vector<MixShare> shares;
  for (uint32_t i = 0; mix_ && i < calls_.size(); ++i) {
    const ProcedureId procedure = calls_[i].lines.front().procedure;
    shares.push_back({program_->procedures[procedure.value].name, mix_->percent(i)});
  }
  return shares;
}

std::unique_ptr<CallGenerator> OwnWorkload::generator(const StreamId& stream) const {
  return std::make_unique<OwnGenerator>(*this, stream);
}

}  // namespace mneme
