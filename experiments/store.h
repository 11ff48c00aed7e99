// The folder of results: what was measured, kept run by run, so that nothing is measured twice, and the
// databases that are recovered, which are removed at the end.
//
//     measurements/    one JSON file a command and round
//     figures/         what comes of them: NAME.json, NAME.csv
//     databases/       while it runs
//     report.html
//
// Threads   one owner; another process is kept out by a lock.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

class ResultStore {
 public:
  using Json = nlohmann::ordered_json;

  // Makes the folder where it is missing, and removes what databases an earlier process has left in it.
  static Result<ResultStore> open(const std::filesystem::path& folder);
  ResultStore(ResultStore&&) = default;
  ResultStore& operator=(ResultStore&&) = delete;
  ~ResultStore();

  // `key` is all that the measurement depends on: the command, and the one that makes its database.
  Result<std::optional<Json>> find(std::string_view key, uint32_t round) const;
  Result<void> keep(std::string_view key, uint32_t round, const Json& result) const;

  Result<void> write_figure(const std::string& name, std::string_view suffix, std::string_view text) const;
  // All figures' JSON that lies there, by name.
  Result<Json> read_figures() const;

  std::filesystem::path databases() const { return folder_ / "databases"; }
  std::filesystem::path report() const { return folder_ / "report.html"; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  ResultStore(std::filesystem::path folder, File lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::filesystem::path file_of(std::string_view key, uint32_t round) const;

  std::filesystem::path folder_;
  File lock_;
};

}  // namespace mneme
