#include "logging/directory/manifest.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/file/file.h"
#include "base/random_number.h"
#include "logging/directory/database_files.h"
#include "logging/record/format_version.h"

namespace mneme {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "mneme data directory";
constexpr std::string_view kChecksumWord = "crc32c ";

std::string manifest_path(const std::string& directory) {
  return directory + "/" + kManifestFile;
}

// Whether the text is no more than what each manifest begins with.
bool begins_ours(std::string_view text) {
  return fmt::format("{{\n  \"format\": \"{}\"", kFormat).starts_with(text);
}

// 64-bit values are text: many JSON readers keep numbers as doubles.
std::string hexadecimal(uint64_t value) {
  return fmt::format("{:016x}", value);
}

uint64_t parse_hexadecimal(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) throw std::invalid_argument(text);
  return value;
}

// The library would convert any number to any other.
template <std::unsigned_integral T>
T number(const Json& json) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > std::numeric_limits<T>::max()) {
    throw std::invalid_argument(fmt::format("it says {} where a number from 0 to {} belongs", json.dump(),
                                            std::numeric_limits<T>::max()));
  }
  return json.get<T>();
}

Lsn lsn(const Json& json) {
  return Lsn{number<uint64_t>(json)};
}
StreamPosition position(const Json& json) {
  return StreamPosition{number<uint64_t>(json)};
}

// Throws what nlohmann::json throws when a field is missing or of another type.
Manifest from_json(const Json& json) {
  Manifest manifest;
  manifest.database_id = parse_hexadecimal(json.at("database_id").get<std::string>());
  manifest.catalog_hash = parse_hexadecimal(json.at("catalog_hash").get<std::string>());
  const auto records = record_content(json.value("records", "command"));
  if (!records) throw std::invalid_argument("its \"records\" are none that this program knows");
  manifest.records = *records;
  const auto image = tuple_image(json.value("tuple_image", "full"));
  if (!image) throw std::invalid_argument("its \"tuple_image\" is none that this program knows");
  manifest.tuple_image = *image;
  const auto layout = log_layout(json.value("layout", "stream"));
  if (!layout) throw std::invalid_argument("its \"layout\" is none that this program knows");
  manifest.layout = *layout;
  manifest.checkpoint_file = json.at("checkpoint").at("file").get<std::string>();
  manifest.checkpoint_lsn = lsn(json.at("checkpoint").at("lsn"));
  manifest.checkpoint_catalog_file = json.at("checkpoint").value("catalog_file", "catalog.sql");
  manifest.checkpoint_catalog_hash =
      json.at("checkpoint").contains("catalog_hash")
          ? parse_hexadecimal(json.at("checkpoint").at("catalog_hash").get<std::string>())
          : manifest.catalog_hash;
  for (const Json& each : json.at("incarnations")) {
    Incarnation incarnation{number<uint32_t>(each.at("number")), lsn(each.at("begin"))};
    if (each.contains("closed")) incarnation.closed = lsn(each.at("closed"));
    for (const Json& end : each.value("stream_ends", Json::array()))
      incarnation.stream_ends.push_back(position(end));
    manifest.incarnations.push_back(incarnation);
  }
  if (json.contains("holes")) {
    for (const Json& each : json.at("holes"))
      manifest.holes.push_back({position(each.at("begin")), position(each.at("end"))});
  }
  for (const Json& each : json.at("segments")) {
    manifest.segments.push_back({each.at("file").get<std::string>(), number<uint32_t>(each.at("number")),
                                 number<uint32_t>(each.at("incarnation"))});
    if (each.contains("logger")) manifest.segments.back().logger = number<uint32_t>(each.at("logger"));
    manifest.segments.back().is_ring = each.value("ring", false);
  }
  if (json.contains("last_segment")) manifest.last_segment = number<uint32_t>(json.at("last_segment"));
  manifest.attributes = json.at("attributes").get<std::map<std::string, std::string>>();
  return manifest;
}

bool leads_outside(const std::string& file) {
  if (file.starts_with('/')) return true;
  return std::ranges::count(std::filesystem::path(file), std::filesystem::path("..")) > 0;
}

// Another user's manifest doesn't choose which of this user's files are read.
Result<void> check_stays_inside(const std::string& directory, const Manifest& manifest) {
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) != 0) return file_error("examine", directory, errno);
  if (facts.st_uid == ::geteuid()) return {};
  std::vector<std::string> files{manifest.checkpoint_file, manifest.checkpoint_catalog_file};
  for (const SegmentEntry& each : manifest.segments) files.push_back(each.file);
  const auto outside = std::ranges::find_if(files, leads_outside);
  if (outside == files.end()) return {};
  return failed(
      "{} belongs to user {} and its manifest names a file outside of it, {}: nothing was read from there; "
      "run this as that user "
      "(sudo -u)",
      directory, user_text(facts.st_uid), *outside);
}

}  // namespace

uint32_t Manifest::next_segment_number() const {
  uint32_t next = last_segment + 1;
  for (const SegmentEntry& each : segments) next = std::max(next, each.number + 1);
  return next;
}

std::string Manifest::encode() const {
  Json json;
  json["format"] = kFormat;
  json["format_version"] = kFormatVersion;
  json["database_id"] = hexadecimal(database_id);
  json["catalog_hash"] = hexadecimal(catalog_hash);
  json["records"] = name_of(records);
  json["tuple_image"] = name_of(tuple_image);
  json["layout"] = name_of(layout);
  json["checkpoint"] = {{"file", checkpoint_file},
                        {"lsn", checkpoint_lsn.value},
                        {"catalog_file", checkpoint_catalog_file},
                        {"catalog_hash", hexadecimal(checkpoint_catalog_hash)}};
  json["incarnations"] = Json::array();
  for (const Incarnation& each : incarnations) {
    Json incarnation = {{"number", each.number}, {"begin", each.begin.value}};
    if (each.closed) incarnation["closed"] = each.closed->value;
    for (const StreamPosition end : each.stream_ends) incarnation["stream_ends"].push_back(end.value);
    json["incarnations"].push_back(std::move(incarnation));
  }
  if (!holes.empty()) json["holes"] = Json::array();
  for (const LogHole& each : holes) {
    json["holes"].push_back({{"begin", each.begin.value}, {"end", each.end.value}});
  }
  json["segments"] = Json::array();
  for (const SegmentEntry& each : segments) {
    json["segments"].push_back(
        {{"file", each.file}, {"number", each.number}, {"incarnation", each.incarnation}});
    if (each.logger) json["segments"].back()["logger"] = *each.logger;
    if (each.is_ring) json["segments"].back()["ring"] = true;
  }
  if (last_segment > 0) json["last_segment"] = last_segment;
  json["attributes"] = attributes;
  const std::string text = json.dump(2) + "\n";
  return text + fmt::format("{}{:08x}\n", kChecksumWord, crc32c(as_bytes(text)));
}

Result<Manifest> Manifest::decode(std::string_view text, const std::string& where) {
  const size_t line = text.rfind(kChecksumWord);
  const std::string_view body = text.substr(0, line == std::string_view::npos ? text.size() : line);
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const bool ours = json.is_object() && json.contains("format") && json["format"] == kFormat;
  const std::string expected = fmt::format("{}{:08x}\n", kChecksumWord, crc32c(as_bytes(body)));
  const bool has_checksum = line != std::string_view::npos && text.size() - line == expected.size();
  const bool checksum_is_right = has_checksum && text.substr(line) == expected;
  // No program writes such a file: it was emptied, or a copy of it broke off.
  if (is_zeros(as_bytes(text)) || begins_ours(text)) {
    return damaged(
        "{} is damaged: it has {} bytes, and {}; nothing was changed: put the file back from a copy of the "
        "directory",
        where, text.size(),
        is_zeros(as_bytes(text)) ? "none but zeros" : "ends before it has said what it is");
  }
  // A foreign file has none of what ours has; damage to ours leaves some of it.
  if (!ours && !has_checksum && text.find(kFormat) == std::string_view::npos) {
    return invalid_argument("{} was not written by Mneme: it doesn't say \"{}\"; give another directory",
                            where, kFormat);
  }
  if (!ours) {
    return damaged(
        "{} is damaged: it isn't the JSON that Mneme writes; nothing was changed: put the file back from a "
        "copy of the "
        "directory",
        where);
  }
  const Json version = json.contains("format_version") ? json["format_version"] : Json();
  if (version != kFormatVersion && checksum_is_right) {
    return invalid_argument(
        "{} has format version {}, and this program reads version {}: use the program that wrote it", where,
        version.dump(), kFormatVersion);
  }
  // Another version may well compute it in another way.
  if (version != kFormatVersion) {
    return damaged(
        "{} is damaged, or of another version: it says format version {}, this program reads version {}, and "
        "its checksum doesn't "
        "match its text; nothing was changed: use the program that wrote it, or put the file back from a "
        "copy of the directory",
        where, version.dump(), kFormatVersion);
  }
  if (!checksum_is_right) {
    return damaged(
        "{} is damaged: its checksum doesn't match its text; nothing was changed: put the file back from a "
        "copy of the "
        "directory",
        where);
  }
  try {
    return from_json(json);
  } catch (const std::exception& problem) {
    return damaged(
        "{} is damaged, though its checksum is right: {}; nothing was changed: put the file back from a copy "
        "of the "
        "directory",
        where, problem.what());
  }
}

void note_closed(ManifestFile& manifest, Lsn end) {
  (void)manifest.update([end](Manifest& changed) { changed.incarnations.back().closed = end; });
}

uint64_t new_database_id() {
  return unforeseen_number();
}

bool holds_database(const std::string& directory) {
  return std::filesystem::exists(manifest_path(directory));
}

Result<Manifest> read_manifest(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) {
    return invalid_argument("there is no directory {}: give the directory of a database", directory);
  }
  if (!holds_database(directory)) {
    RETURN_IF_ERROR(check_holds_no_files(directory));
    return invalid_argument("{} holds no database: it has no file MANIFEST", directory);
  }
  auto text = read_text_in(directory, kManifestFile);
  if (!text.ok()) return text.error();
  auto manifest = Manifest::decode(*text, manifest_path(directory));
  if (manifest.ok()) {
    RETURN_IF_ERROR(check_stays_inside(directory, *manifest));
    return manifest;
  }
  if (manifest.error().kind != ErrorKind::kInvalidArgument || text->find(kFormat) != std::string::npos)
    return manifest;
  // The text is not Mneme's, while the files beside it are.
  const auto files = database_files(directory);
  if (!files.ok() || files->empty()) return manifest;
  return damaged(
      "{} is damaged: it isn't the JSON that Mneme writes, and {} beside it is a database's; nothing was "
      "changed: put the file back "
      "from a copy of the directory",
      manifest_path(directory), files->front());
}

Result<std::unique_ptr<ManifestFile>> ManifestFile::create(const std::string& directory,
                                                           const Manifest& manifest) {
  if (holds_database(directory)) {
    return invalid_argument("{} holds a database already: give another directory, or open this one",
                            directory);
  }
  RETURN_IF_ERROR(replace_text_file(manifest_path(directory), manifest.encode()));
  return std::unique_ptr<ManifestFile>(new ManifestFile(directory, manifest));
}

Result<std::unique_ptr<ManifestFile>> ManifestFile::open(const std::string& directory) {
  auto manifest = read_manifest(directory);
  if (!manifest.ok()) return manifest.error();
  return std::unique_ptr<ManifestFile>(new ManifestFile(directory, std::move(*manifest)));
}

Manifest ManifestFile::current() const {
  const std::lock_guard guard(mutex_);
  return manifest_;
}

Result<void> ManifestFile::update(FunctionRef<void(Manifest&)> change) {
  const std::lock_guard guard(mutex_);
  Manifest changed = manifest_;
  change(changed);
  changed.last_segment = std::max(changed.last_segment, manifest_.next_segment_number() - 1);
  RETURN_IF_ERROR(replace_text_file(manifest_path(directory_), changed.encode()));
  manifest_ = std::move(changed);
  return {};
}

}  // namespace mneme
