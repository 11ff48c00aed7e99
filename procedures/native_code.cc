#include "procedures/native_code.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "base/file.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

NativeKey key_of(const std::string& text, const NativeToolchain& toolchain) {
  std::string all;
  for (const std::string* part : {&text, &toolchain.header_digest, &toolchain.compiler, &toolchain.version}) {
    all += fmt::format("{} {}\n", part->size(), *part);
  }
  for (const std::string& flag : toolchain.flags) all += flag + '\n';
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  return {hash.high64, hash.low64};
}

// A new folder for one compilation, removed at the end unless it is to be looked into.
class Workspace {
 public:
  // Below `parent`, so that files can be renamed into it.
  static Result<Workspace> make(const std::string& parent) {
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) return failed("cannot make the folder {}: {}", parent, error.message());
    std::string path = parent + "/compiling-XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
      return failed("cannot make a folder in {}: {}", parent, std::strerror(errno));
    return Workspace(path);
  }
  Workspace(Workspace&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  std::string file(const char* name) const { return path_ + "/" + name; }
  void leave() { path_.clear(); }

 private:
  explicit Workspace(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

Result<void> write_text(const std::string& path, const std::string& text) {
  const Result<File> file = File::open(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) return file.error();
  return file->write_at(as_bytes(text), 0);
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return file_error("rename a file to", to, errno);
  return {};
}

// Removes all objects of the folder but those that were used last. What cannot be removed stays.
void forget_oldest(const std::string& folder, size_t most_kept) {
  struct Object {
    fs::path path;
    fs::file_time_type used;
  };
  std::vector<Object> objects;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".so") objects.push_back({entry.path(), entry.last_write_time(ignored)});
  }
  if (objects.size() <= most_kept) return;
  std::ranges::sort(objects, std::greater(), &Object::used);
  for (const Object& old : std::span(objects).subspan(most_kept)) {
    fs::remove(old.path, ignored);
    fs::remove(fs::path(old.path).replace_extension(".cc"), ignored);
  }
}

// In the folder that is to keep it, or, where that can't be, in a temporary one, which ends up in `notices`.
Result<Workspace> make_workspace(std::string& keep, std::vector<std::string>& notices) {
  if (!keep.empty()) {
    Result<Workspace> workspace = Workspace::make(keep);
    if (workspace) return workspace;
    notices.push_back(workspace.error().message + ", so the next one will do so again");
    keep.clear();
  }
  return Workspace::make(fs::temp_directory_path());
}

Result<NativeObject> compile(const std::string& text, const NativeKey& key, size_t unit_count, std::string keep,
                             const NativeToolchain& toolchain, std::vector<std::string>& notices) {
  RETURN_IF_ERROR(toolchain.check());
  Result<Workspace> workspace = make_workspace(keep, notices);
  if (!workspace) return workspace.error();
  const std::string source = workspace->file("procedures.cc");
  const std::string object = workspace->file("procedures.so");
  RETURN_IF_ERROR(write_text(source, text + native_key_definition(key)));
  if (const Result<void> compiled = toolchain.compile(source, object, workspace->file("log")); !compiled) {
    workspace->leave();
    return compiled.error();
  }
  RETURN_IF_ERROR(NativeObject::seal(object));
  if (keep.empty()) return NativeObject::open(object, key, unit_count);
  const std::string kept = keep + "/" + key.to_string();
  RETURN_IF_ERROR(rename_file(source, kept + ".cc"));
  RETURN_IF_ERROR(rename_file(object, kept + ".so"));
  return NativeObject::open(kept + ".so", key, unit_count);
}

}  // namespace

std::string NativeFolders::of_user() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  // A relative path is to be ignored, the XDG specification says.
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/mneme/native";
  const char* const home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/mneme/native" : "";
}

std::string NativeFolders::of_program() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "";
  const fs::path beside = program.parent_path() / "native";
  const fs::path installed = program.parent_path().parent_path() / "lib" / "mneme" / "native";
  return fs::exists(installed, error) ? installed.string() : beside.string();
}

Result<NativeCode> NativeCode::load(const std::string& text, size_t unit_count, const NativeFolders& folders,
                                    const NativeToolchain& toolchain,
                                    const std::function<void()>& compiling) {
  const NativeKey key = key_of(text, toolchain);
  std::vector<std::string> places;
  if (!folders.keep.empty()) places.push_back(folders.keep);
  places.insert(places.end(), folders.look.begin(), folders.look.end());

  std::vector<std::string> notices;
  for (const std::string& folder : places) {
    const std::string path = folder + "/" + key.to_string() + ".so";
    std::error_code none;
    if (!fs::exists(path, none)) continue;
    Result<NativeObject> cached = NativeObject::open(path, key, unit_count);
    if (cached.ok()) {
      const bool makes_room = folder == folders.keep && folders.most_kept < std::numeric_limits<size_t>::max();
      if (makes_room) fs::last_write_time(path, fs::file_time_type::clock::now(), none);
      return NativeCode(*std::move(cached), key, false, std::move(notices));
    }
    notices.push_back(cached.error().message);
  }
  if (compiling) compiling();
  Result<NativeObject> compiled = compile(text, key, unit_count, folders.keep, toolchain, notices);
  if (!compiled) {
    std::string message = compiled.error().message;
    for (const std::string& notice : notices) message += "; before that, " + notice;
    return Error{compiled.error().kind, message};
  }
  if (!folders.keep.empty()) forget_oldest(folders.keep, folders.most_kept);
  return NativeCode(*std::move(compiled), key, true, std::move(notices));
}

}  // namespace mneme
