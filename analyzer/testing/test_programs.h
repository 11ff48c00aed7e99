// Test programs: SQL for the analyzer's tests, and dependency graphs as one line of text.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "analyzer/dependency_graph.h"
#include "procedures/binder/program.h"

namespace mneme {

// A failed compilation fails the test with its message and ends the program.
inline std::unique_ptr<Program> compile_or_die(std::string_view sql) {
  Result<std::unique_ptr<Program>> program = compile(sql, "test.sql");
  if (!program) {
    ADD_FAILURE() << program.error().message;
    CHECK(program.ok());
  }
  return std::move(program).value();
}

// A file of the source tree, by its path from the root.
inline std::string source_file(const std::string& path) {
  std::ifstream file(std::string(MNEME_SOURCE_DIR "/") + path);
  CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// "T1{1 2} T2{3}; T1->T2": slices with their operations (from 1, in program order), then edges.
inline std::string describe(const LocalGraph& local) {
  std::ostringstream text;
  for (const Slice& slice : local.slices) {
    text << (slice.id.value > 0 ? " " : "") << slice.label << "{";
    for (size_t i = 0; i < slice.operations.size(); ++i) {
      text << (i > 0 ? " " : "") << slice.operations[i].value + 1;
    }
    text << "}";
  }
  text << ";";
  for (const SliceEdge& edge : local.edges) {
    text << " " << local.slices[edge.from.value].label << "->" << local.slices[edge.to.value].label;
  }
  return text.str();
}

// "α{T1} β{T2 D1}; α->β": blocks with their slices, then edges.
inline std::string describe_blocks(const DependencyGraph& graph) {
  std::ostringstream text;
  for (const Block& block : graph.blocks) {
    text << (block.id.value > 0 ? " " : "") << block.name << "{";
    for (size_t i = 0; i < block.members.size(); ++i) {
      const BlockMember& member = block.members[i];
      text << (i > 0 ? " " : "") << graph.local(member.procedure).slices[member.slice.value].label;
    }
    text << "}";
  }
  text << ";";
  for (const BlockEdge& edge : graph.edges) {
    text << " " << graph.block(edge.from).name << "->" << graph.block(edge.to).name;
  }
  return text.str();
}

}  // namespace mneme
