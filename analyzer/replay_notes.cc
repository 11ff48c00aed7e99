#include "analyzer/replay_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/render.h"

namespace mneme {

std::vector<std::string> AnalyzedNotes::of_call(const ir::Procedure& procedure) const {
  if (!procedure.writes) return {"Log: nothing, as it only reads"};
  if (procedure.is_logged_by_rows())
    return {fmt::format("Log: the rows that it changes ({})", procedure.by_chance)};
  if (in_block_) return {"Log: the rows that it changes, as a part of its block"};
  if (!logs_calls_) return {"Log: the rows that it changes, as this log holds rows"};
  return {"Log: the call and its arguments"};
}

std::vector<std::string> AnalyzedNotes::of_operation(const ir::Procedure& procedure,
                                                     const ir::Operation& operation) const {
  if (!is_logged_as_call(procedure)) {
    return operation.kind == ir::OperationKind::kSelect ? std::vector<std::string>()
                                                        : lanes_of_rows(operation);
  }
  if (!calls_) calls_ = analyze(program_);
  const Slice& slice = slice_of(calls_->local(procedure.id), operation.id);
  if (!std::ranges::binary_search(slice.replayed, operation.id))
    return {fmt::format("Slice: {}, not replayed, as no write needs it", slice.label)};
  const Block& block = calls_->block(slice.block);
  std::vector<std::string> notes = {fmt::format("Slice: {} in block {}", slice.label, block.name)};
  std::vector<TableId> shown;
  for (const ir::TableAccess& access : operation.access) {
    if (std::ranges::count(shown, access.table) > 0) continue;
    shown.push_back(access.table);
    notes.push_back("Lane: " + render_lanes(program_, *calls_, block, access.table));
  }
  return notes;
}

std::vector<std::string> AnalyzedNotes::of_statement(const ir::Operation& change) const {
  std::vector<std::string> notes = {"Log: the rows that it changes"};
  for (std::string& lane : lanes_of_rows(change)) notes.push_back(std::move(lane));
  return notes;
}

std::vector<std::string> AnalyzedNotes::lanes_of_rows(const ir::Operation& change) const {
  if (!logs_calls_) return {};  // each row is installed by its key
  if (!rows_) rows_ = analyze(program_, AnalysisOptions::for_ad_hoc());
  const ChangeOwners owners(*rows_, program_.catalog);
  const TableId table = change.access[0].table;
  const std::string& name = program_.catalog.table(table).name;
  std::vector<Owner> found;
  if (change.kind == ir::OperationKind::kUpdate) {
    for (const ColumnId column : change.columns_written) {
      const Owner owner = owners.column(table, column);
      if (std::ranges::count(found, owner) == 0) found.push_back(owner);
    }
  } else {
    found.push_back(owners.existence(table));
  }
  std::vector<std::string> notes;
  for (const Owner& owner : found) {
    switch (owner.kind()) {
      case Owner::Kind::kBlock: {
        const Block& block = rows_->block(owner.block());
        notes.push_back(
            fmt::format("Lane: {}, in block {}", render_lanes(program_, *rows_, block, table), block.name));
        break;
      }
      case Owner::Kind::kNobody:
        notes.push_back(fmt::format("Lane: any, as no replayed call touches {}", name));
        break;
      case Owner::Kind::kBarrier:
        notes.push_back(fmt::format("Lane: none, it is replayed alone, as several blocks share {}", name));
        break;
    }
  }
  return notes;
}

}  // namespace mneme
