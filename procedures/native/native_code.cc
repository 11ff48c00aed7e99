#include "procedures/native/native_code.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/file/file.h"
#include "base/file/trusted_folder.h"

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

constexpr mode_t kOwnersMode = 0700;
constexpr const char* kWorkspacePrefix = "compiling-";
constexpr const char* kAgain = ", so the next one will do so again";
constexpr std::chrono::milliseconds kPatience{1000};

// A new folder for one compilation, removed at the end unless it is to be looked into.
class Workspace {
 public:
  // `pattern` ends in XXXXXX. In the folder that keeps the object, files can be renamed into it.
  static Result<Workspace> make(std::string pattern) {
    const std::string parent = fs::path(pattern).parent_path();
    if (mkdtemp(pattern.data()) == nullptr)
      return failed("cannot make a folder in {}: {}", parent, std::strerror(errno));
    // Whatever the umask is.
    (void)::chmod(pattern.c_str(), kOwnersMode);
    Result<File> folder = open_trusted_folder(pattern);
    if (folder) return Workspace(std::move(*folder));
    ::rmdir(pattern.c_str());
    return folder.error();
  }
  Workspace(Workspace&& other) noexcept = default;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace() {
    std::error_code ignored;
    if (folder_.is_open() && !is_left_) fs::remove_all(folder_.path(), ignored);
  }

  const File& folder() const { return folder_; }
  void leave() { is_left_ = true; }

 private:
  explicit Workspace(File folder) : folder_(std::move(folder)) {}

  File folder_;
  bool is_left_ = false;
};

// The folder that keeps objects, open. Shared by all processes that compile into it: one alone may remove
// what others have left.
class KeepingFolder {
 public:
  static Result<KeepingFolder> open(const std::string& path, bool is_made) {
    Result<File> folder = open_trusted_folder(path, {.is_made = is_made});
    if (!folder) return folder.error();
    struct stat facts {};
    if (::fstat(folder->descriptor(), &facts) != 0) return file_error("examine", path, errno);
    if (facts.st_uid == ::geteuid() && (facts.st_mode & 0077) != 0)
      (void)::fchmod(folder->descriptor(), kOwnersMode);
    KeepingFolder keeping(std::move(*folder));
    keeping.share();
    return keeping;
  }

  const File& file() const { return folder_; }

 private:
  explicit KeepingFolder(File folder) : folder_(std::move(folder)) {}

  // Each process that uses the folder holds a shared lock on it. So where the lock can be had alone, every
  // compilation there was ended, by a kill or by its own failure.
  void share() const {
    if (::flock(folder_.descriptor(), LOCK_EX | LOCK_NB) == 0) {
      std::error_code ignored;
      std::vector<fs::path> left;
      for (const auto& entry : fs::directory_iterator(path_at(folder_, "."), ignored)) {
        if (entry.path().filename().string().starts_with(kWorkspacePrefix)) left.push_back(entry.path());
      }
      for (const fs::path& each : left) fs::remove_all(each, ignored);
    }
    // One that removes is quick. Where locks can't be had at all the folder serves without.
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (::flock(folder_.descriptor(), LOCK_SH | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() > deadline) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  File folder_;
};

Result<void> write_text(const File& folder, const std::string& name, const std::string& text) {
  const Result<File> file = File::make(path_at(folder, name), O_WRONLY);
  if (!file) return file.error();
  return file->write_at(as_bytes(text), 0);
}

Result<void> rename_file(const File& from, const std::string& name, const File& to,
                         const std::string& new_name) {
  if (::renameat(from.descriptor(), name.c_str(), to.descriptor(), new_name.c_str()) == 0) return {};
  return file_error("rename a file to", to.path() + "/" + new_name, errno);
}

Result<NativeObject> open_object(const File& folder, const std::string& name, const NativeKey& key,
                                 size_t unit_count, const FolderTrust& trust) {
  const Result<File> file = open_trusted_file(folder, name, trust);
  if (!file) return file.error();
  return NativeObject::open(*file, key, unit_count);
}

// Removes all objects of the folder but those that were used last. What cannot be removed stays.
void forget_oldest(const File& folder, size_t most_kept) {
  struct Object {
    fs::path path;
    fs::file_time_type used;
  };
  std::vector<Object> objects;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_at(folder, "."), ignored)) {
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
Result<Workspace> make_workspace(std::optional<KeepingFolder>& keep, std::vector<std::string>& notices) {
  if (keep) {
    Result<Workspace> workspace = Workspace::make(keep->file().path() + "/" + kWorkspacePrefix + "XXXXXX");
    if (workspace) return workspace;
    notices.push_back(workspace.error().message + kAgain);
    keep.reset();
  }
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (error) return failed("cannot make a folder in {}: {}", place.string(), error.message());
  return Workspace::make(place.string() + "/mneme-" + kWorkspacePrefix + "XXXXXX");
}

Result<NativeObject> compile_object(const std::string& text, const NativeKey& key, size_t unit_count,
                                    std::optional<KeepingFolder>& keep, const NativeToolchain& toolchain,
                                    std::vector<std::string>& notices, const std::stop_token& stop) {
  RETURN_IF_ERROR(toolchain.check());
  Result<Workspace> workspace = make_workspace(keep, notices);
  if (!workspace) return workspace.error();
  const File& folder = workspace->folder();
  const std::string source = "procedures.cc";
  const std::string object = "procedures.so";
  RETURN_IF_ERROR(write_text(folder, source, text + native_key_definition(key)));
  if (const Result<void> compiled = toolchain.compile(folder, source, object, "log", stop); !compiled) {
    if (!stop.stop_requested()) workspace->leave();
    return compiled.error();
  }
  // The linker makes it as the umask says. This closes it to other users, too.
  if (const Result<File> made = File::open_own(path_at(folder, object), O_RDONLY); !made) return made.error();
  RETURN_IF_ERROR(NativeObject::seal(path_at(folder, object)));
  if (!keep) return open_object(folder, object, key, unit_count, {});
  const std::string kept = key.to_string();
  RETURN_IF_ERROR(rename_file(folder, source, keep->file(), kept + ".cc"));
  RETURN_IF_ERROR(rename_file(folder, object, keep->file(), kept + ".so"));
  return open_object(keep->file(), kept + ".so", key, unit_count, {});
}

// Into the folder that other directories look into. Where that can't be, they compile for themselves.
void share_object(const File& keep, const std::string& name, const NativeFolders& folders) {
  const Result<KeepingFolder> share = KeepingFolder::open(folders.share, /*is_made=*/true);
  if (!share) return;
  const Result<Workspace> workspace =
      Workspace::make(share->file().path() + "/" + kWorkspacePrefix + "XXXXXX");
  if (!workspace) return;
  for (const std::string& file : {name + ".cc", name + ".so"}) {
    std::error_code error;
    fs::copy_file(path_at(keep, file), path_at(workspace->folder(), file), error);
    if (error || !rename_file(workspace->folder(), file, share->file(), file)) return;
  }
  forget_oldest(share->file(), folders.most_shared);
}

// Looks for an object in the folders, in their order.
class ObjectCache {
 public:
  ObjectCache(const NativeFolders& folders, const NativeKey& key, size_t unit_count)
      : folders_(folders),
        key_(key),
        name_(key.to_string() + ".so"),
        unit_count_(unit_count),
        has_kept_(!folders.keep.empty() && exists(folders.keep)) {
    if (has_kept_) open_keep(/*is_made=*/false);
  }

  std::optional<NativeObject> find() {
    if (keep_ && exists(path_at(keep_->file(), name_))) {
      if (auto cached = take(keep_->file(), {})) {
        if (folders_.most_kept < std::numeric_limits<size_t>::max()) mark_as_used(keep_->file());
        return cached;
      }
    }
    for (const std::string& place : folders_.look) {
      if (!exists(place + "/" + name_)) continue;
      const FolderTrust trust{.is_programs = place == NativeFolders::of_program()};
      const Result<File> folder = open_trusted_folder(place, trust);
      if (!folder) {
        notices.push_back(fmt::format("{} was not used: {}", place, folder.error().message));
        continue;
      }
      if (auto cached = take(*folder, trust)) {
        if (place == folders_.share) mark_as_used(*folder);
        return cached;
      }
    }
    return std::nullopt;
  }

  // Returns the folder that keeps what is compiled, made where it is not there; nullopt where it can't be.
  std::optional<KeepingFolder>& keep() {
    if (!folders_.keep.empty() && !has_kept_) open_keep(/*is_made=*/true);
    return keep_;
  }

  std::vector<std::string> notices;

 private:
  static bool exists(const std::string& path) {
    std::error_code none;
    return fs::exists(path, none);
  }
  void mark_as_used(const File& folder) const {
    std::error_code none;
    fs::last_write_time(path_at(folder, name_), fs::file_time_type::clock::now(), none);
  }
  void open_keep(bool is_made) {
    Result<KeepingFolder> opened = KeepingFolder::open(folders_.keep, is_made);
    if (opened) {
      keep_.emplace(std::move(*opened));
    } else {
      notices.push_back(opened.error().message + kAgain);
    }
  }
  std::optional<NativeObject> take(const File& folder, const FolderTrust& trust) {
    Result<NativeObject> cached = open_object(folder, name_, key_, unit_count_, trust);
    if (cached) return *std::move(cached);
    notices.push_back(cached.error().message);
    return std::nullopt;
  }

  const NativeFolders& folders_;
  const NativeKey key_;
  const std::string name_;
  const size_t unit_count_;
  const bool has_kept_;
  std::optional<KeepingFolder> keep_;
};

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

void remove_abandoned_compilations(const std::string& folder) {
  std::error_code none;
  if (fs::exists(folder, none)) (void)KeepingFolder::open(folder, /*is_made=*/false);
}

std::optional<NativeCode> NativeCode::find(const std::string& text, size_t unit_count,
                                           const NativeFolders& folders, const NativeToolchain& toolchain) {
  const NativeKey key = key_of(text, toolchain);
  ObjectCache cache(folders, key, unit_count);
  std::optional<NativeObject> found = cache.find();
  if (!found) return std::nullopt;
  return NativeCode(*std::move(found), key, false, std::move(cache.notices));
}

Result<NativeCode> NativeCode::load(const std::string& text, size_t unit_count, const NativeFolders& folders,
                                    const NativeToolchain& toolchain, const std::function<void()>& compiling,
                                    const std::stop_token& stop) {
  const NativeKey key = key_of(text, toolchain);
  ObjectCache cache(folders, key, unit_count);
  if (std::optional<NativeObject> found = cache.find())
    return NativeCode(*std::move(found), key, false, std::move(cache.notices));
  if (compiling) compiling();
  std::optional<KeepingFolder>& keep = cache.keep();
  Result<NativeObject> compiled = compile_object(text, key, unit_count, keep, toolchain, cache.notices, stop);
  if (!compiled) {
    std::string message = compiled.error().message;
    for (const std::string& notice : cache.notices) message += "; before that, " + notice;
    return Error{compiled.error().kind, message};
  }
  if (keep) forget_oldest(keep->file(), folders.most_kept);
  if (keep && !folders.share.empty()) share_object(keep->file(), key.to_string(), folders);
  return NativeCode(*std::move(compiled), key, true, std::move(cache.notices));
}

}  // namespace mneme
