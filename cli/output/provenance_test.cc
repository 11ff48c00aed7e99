// Goal: a result says where it comes from.
#include "cli/output/provenance.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

TEST(Provenance, AddsItsFields) {
  Json json = {{"command", "run"}};
  Provenance("/tmp").add_to(json, 7);
  EXPECT_EQ(json.begin().key(), "command");
  EXPECT_EQ(json["seed"], 7);
  for (const char* field : {"version", "commit", "command_line", "started"})
    EXPECT_TRUE(json.contains(field)) << field;
  EXPECT_EQ(json["started"].get<std::string>().size(), std::string("2026-01-31T12:00:00Z").size());
  for (const char* field : {"processor", "cores", "memory_bytes", "kernel", "huge_pages", "virtualisation",
                            "governor", "load_before", "load_after", "disk"})
    EXPECT_TRUE(json["host"].contains(field)) << field;
  for (const char* field : {"compiler", "flags", "type", "program"})
    EXPECT_TRUE(json["build"][field].is_string()) << field;
  EXPECT_TRUE(json["host"]["disk"].is_object()) << json.dump();

  Json without = Json::object();
  Provenance().add_to(without);
  EXPECT_TRUE(without["seed"].is_null());
  EXPECT_TRUE(without["host"]["disk"].is_null());
}

}  // namespace
}  // namespace mneme
