#include "experiments/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <set>
#include <system_error>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

uint32_t checksum(std::string_view text) {
  return crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

// The command's beginning, of letters, digits and hyphens, for people who look into the folder.
std::string slug(std::string_view key) {
  std::string text;
  for (const char c : key.substr(0, 60)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain) text += c;
    if (!plain && !text.empty() && text.back() != '-') text += '-';
  }
  return text;
}

}  // namespace

Result<ResultStore> ResultStore::open(const fs::path& folder) {
  std::error_code error;
  for (const char* part : {"measurements", "figures"}) {
    if (fs::create_directories(folder / part, error); error) {
      return failed("cannot make the folder {}: {}", (folder / part).string(), error.message());
    }
  }
  Result<File> lock = File::open(folder / "lock", O_RDWR | O_CREAT);
  if (!lock) return lock.error();
  if (flock(lock->descriptor(), LOCK_EX | LOCK_NB) != 0) {
    return failed(
        "another process is putting results into {}: wait for it, or name another folder by --output",
        folder.string());
  }
  fs::remove_all(folder / "databases", error);
  return ResultStore(folder, std::move(*lock));
}

ResultStore::~ResultStore() {
  std::error_code ignored;
  if (lock_.is_open()) fs::remove_all(databases(), ignored);
}

fs::path ResultStore::file_of(std::string_view key, uint32_t round) const {
  return folder_ / "measurements" / fmt::format("{}-{:08x}-{}.json", slug(key), checksum(key), round + 1);
}

Result<std::optional<ResultStore::Json>> ResultStore::find(std::string_view key, uint32_t round) const {
  const fs::path path = file_of(key, round);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::optional<Json>();
  const Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  Json kept = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!kept.is_object() || kept.value("key", "") != key || !kept.contains("result")) {
    return damaged("{} is not what was kept there: remove it, or measure all anew with --fresh",
                   path.string());
  }
  return std::optional<Json>(std::move(kept));
}

Result<void> ResultStore::keep(std::string_view key, uint32_t round, const Json& result) const {
  Json kept = {{"key", key}};
  kept.update(result);
  return replace_text_file(file_of(key, round), kept.dump(1) + "\n", Readers::kByUmask);
}

Result<void> ResultStore::write_figure(const std::string& name, std::string_view suffix,
                                       std::string_view text) const {
  return replace_text_file(folder_ / "figures" / fmt::format("{}.{}", name, suffix), text, Readers::kByUmask);
}

Result<ResultStore::Json> ResultStore::read_figures() const {
  std::set<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "figures", error)) {
    if (entry.path().extension() == ".json") paths.insert(entry.path());
  }
  if (error) return failed("cannot read {}: {}", (folder_ / "figures").string(), error.message());
  Json figures = Json::object();
  for (const fs::path& path : paths) {
    const Result<std::string> text = read_text_file(path);
    if (!text) return text.error();
    Json figure = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!figure.is_object() || !figure.contains("panels")) {
      return damaged("{} holds no figure: remove it, and run its experiment again", path.string());
    }
    figures[path.stem().string()] = std::move(figure);
  }
  return figures;
}

}  // namespace mneme
