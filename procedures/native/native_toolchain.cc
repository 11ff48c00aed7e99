#include "procedures/native/native_toolchain.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <stop_token>
#include <string_view>

#include "base/file/file.h"
#include "base/file/trusted_folder.h"
#include "procedures/native/native_build.h"
#include "procedures/native/native_headers.h"

namespace mneme {
namespace {

constexpr const char* kRuntimeFolder = "procedures/native";
constexpr const char* kRuntimeHeader = "native_runtime.h";

// Returns once the child has ended. A stop kills its process group. The child stays a zombie, and its number
// is no other process's, until the last kill has been sent: waitid() leaves it so, and waitpid() collects it
// under the mutex.
Result<int> wait_for(pid_t child, const std::string& name, const std::stop_token& stop) {
  std::mutex mutex;
  bool has_ended = false;  // guarded by the mutex
  const std::stop_callback kill_group(stop, [&] {
    const std::lock_guard lock(mutex);
    if (!has_ended) ::kill(-child, SIGKILL);
  });
  siginfo_t ignored;
  while (::waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex);
  has_ended = true;
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno == ECHILD) return 0;
    if (errno != EINTR) return failed("cannot wait for {}: {}", name, std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Where a command runs: `output` gets both of its streams. It runs in the folder `in`, and has its temporary
// files there; -1: where this process is.
struct CommandPlace {
  int output;
  int in = -1;
};

// Runs a command. Returns its exit status, 128 and more if a signal ended it. The status is 0 as well where
// the program that this is part of ignores SIGCHLD, or waits for any child, and so the status is lost: what
// the command was to make is there, or not.
Result<int> run_command(const std::vector<std::string>& command, const std::vector<std::string>& variables,
                        const CommandPlace& place, const std::stop_token& stop = {}) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&streams, place.output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&streams, place.output, STDERR_FILENO);
  std::vector<char*> environment;
  std::string temporary = "TMPDIR=.";
  for (const std::string& each : variables) {
    if (place.in < 0 || !each.starts_with("TMPDIR=")) environment.push_back(const_cast<char*>(each.c_str()));
  }
  if (place.in >= 0) {
    posix_spawn_file_actions_addfchdir_np(&streams, place.in);
    environment.push_back(temporary.data());
  }
  environment.push_back(nullptr);
  // A compiler runs programs itself, and waits for them: it has no use for what this process ignores or
  // blocks.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // What can be stopped is a process group of its own: the compiler runs programs that must end with it.
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (stop.stop_possible()) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, flags);
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, arguments[0], &streams, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&streams);
  if (error != 0) return failed("{} cannot be run: {}", command[0], std::strerror(error));
  return wait_for(child, command[0], stop);
}

// A path that begins at the working directory, for a process that begins in another. A bare name is looked up
// in PATH.
std::string absolute(const std::string& program) {
  return program.find('/') == std::string::npos ? program : std::filesystem::absolute(program).string();
}

Result<std::string> version_of(const std::string& compiler, const std::vector<std::string>& variables) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("cannot make a pipe: {}", std::strerror(errno));
  // A compiler's version text is shorter than a pipe holds, so no thread has to read meanwhile.
  const Result<int> status = run_command({compiler, "--version"}, variables, {ends[1]});
  close(ends[1]);
  char buffer[4096];
  const ssize_t bytes = read(ends[0], buffer, sizeof buffer);
  close(ends[0]);
  if (!status) return status.error();
  const std::string text(buffer, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  if (*status != 0 || text.empty()) return failed("{} --version ends with status {}", compiler, *status);
  return text.substr(0, text.find('\n'));
}

// The compiler looks in the headers' folder first, for the system's headers, too: no other user may put one
// there.
Result<void> check_place(const std::string& place) {
  const Result<File> folder = open_trusted_folder(place, {.is_programs = true, .is_groups = true});
  return folder ? Result<void>() : Result<void>(folder.error());
}

// Whether there is a precompiled runtime that no other user could have written.
bool is_precompiled(const std::string& precompiled) {
  const FolderTrust trust{.is_programs = true, .is_groups = true};
  const Result<File> folder = open_trusted_folder(precompiled + "/" + kRuntimeFolder, trust);
  return folder && open_trusted_file(*folder, std::string(kRuntimeHeader) + ".gch", trust).ok();
}

// Returns the first place that has headers at all; if none has, the source tree, which a notice names.
std::string find_headers() {
  std::vector<std::string> places;
  if (const char* const named = std::getenv("MNEME_HEADERS"); named != nullptr && *named != '\0')
    return named;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) places.push_back(program.parent_path().parent_path() / "include" / "mneme");
  for (const char* place :
       {kNativeBuild.source_directory, kNativeBuild.installed_headers, "/usr/include/mneme"})
    places.emplace_back(place);
  for (const std::string& place : places) {
    if (std::filesystem::exists(place + "/" + kRuntimeFolder + "/" + kRuntimeHeader, error) &&
        check_place(place).ok())
      return place;
  }
  return kNativeBuild.source_directory;
}

}  // namespace

Result<NativeToolchain> NativeToolchain::of_this_program() {
  NativeToolchain toolchain;
  for (char** each = environ; *each != nullptr; ++each) toolchain.environment.emplace_back(*each);
  std::istringstream flags{std::string(kNativeBuild.flags)};
  for (std::string flag; flags >> flag;) toolchain.flags.push_back(flag);
  toolchain.source_directory = find_headers();
  toolchain.header_digest = kNativeBuild.header_digest;
  const std::string made_of =
      fmt::format("{} {} {}", kNativeBuild.header_digest, kNativeBuild.compiler_version, kNativeBuild.flags);
  toolchain.precompiled = fmt::format("{}/{:016x}", kNativeBuild.precompiled_headers,
                                      XXH3_64bits(made_of.data(), made_of.size()));
  const char* const other = std::getenv("MNEME_CXX");
  if (other == nullptr || *other == '\0') {
    toolchain.compiler = kNativeBuild.compiler;
    toolchain.version = kNativeBuild.compiler_version;
    return toolchain;
  }
  const Result<std::string> version = version_of(other, toolchain.environment);
  if (!version) {
    return failed("MNEME_CXX names no compiler: {}; install it, or unset MNEME_CXX", version.error().message);
  }
  toolchain.compiler = other;
  toolchain.version = *version;
  return toolchain;
}

Result<void> NativeToolchain::check() const {
  const Result<std::string> now = version_of(compiler, environment);
  if (!now) {
    return failed("there is no C++ compiler: {}; install it, or name another one in MNEME_CXX",
                  now.error().message);
  }
  if (*now != version) {
    return failed(
        "{} is not what this program was built with (\"{}\" now, \"{}\" then): build the program anew",
        compiler, *now, version);
  }
  const Result<std::string> headers = digest_of_headers(source_directory);
  if (!headers) {
    return failed(
        "the headers to compile against are not there: {}; put the source tree back, name where they are "
        "installed in "
        "MNEME_HEADERS, or build the program anew",
        headers.error().message);
  }
  if (*headers != header_digest) {
    return failed("the headers in {} have changed since this program was built: build it anew",
                  source_directory);
  }
  RETURN_IF_ERROR(check_place(source_directory));
  const Result<std::vector<std::string>> names = header_files(source_directory);
  if (!names) return names.error();
  std::set<std::string> rooms;
  for (const std::string& name : *names) {
    const std::filesystem::path room = std::filesystem::path(name).parent_path();
    rooms.insert({room.parent_path(), room});
  }
  for (const std::string& room : rooms) {
    if (!room.empty()) RETURN_IF_ERROR(check_place(source_directory + "/" + room));
  }
  return {};
}

Result<void> NativeToolchain::precompile() const {
  if (version.find("clang") != std::string::npos || is_precompiled(precompiled)) return {};
  RETURN_IF_ERROR(check());
  const Result<File> folder = open_trusted_folder(precompiled + "/" + kRuntimeFolder,
                                                  {.is_programs = true, .is_groups = true, .is_made = true});
  if (!folder) return folder.error();
  const Result<File> output = File::make(path_at(*folder, "precompiling.log"), O_WRONLY);
  if (!output) return output.error();
  std::vector<std::string> command = {absolute(compiler)};
  std::ranges::copy_if(flags, std::back_inserter(command),
                       [](const std::string& flag) { return flag != "-shared"; });
  const std::string headers = std::filesystem::absolute(source_directory).string();
  for (const std::string& part :
       {std::string("-x"), std::string("c++-header"), "-I" + headers, std::string("-o"), std::string("made"),
        headers + "/" + kRuntimeFolder + "/" + kRuntimeHeader})
    command.push_back(part);
  const Result<int> status = run_command(command, environment, {output->descriptor(), folder->descriptor()});
  if (!status) return status.error();
  const std::string name = std::string(kRuntimeHeader) + ".gch";
  if (*status != 0 || ::fchmodat(folder->descriptor(), "made", S_IRUSR | S_IWUSR, 0) != 0 ||
      ::renameat(folder->descriptor(), "made", folder->descriptor(), name.c_str()) != 0) {
    return failed("{} made no precompiled header in {}; what it says is in precompiling.log there", compiler,
                  folder->path());
  }
  return {};
}

Result<void> NativeToolchain::compile(const File& folder, const std::string& source,
                                      const std::string& object, const std::string& log,
                                      const std::stop_token& stop) const {
  const Result<File> output = File::make(path_at(folder, log), O_WRONLY);
  if (!output) return output.error();
  std::vector<std::string> command = {absolute(compiler)};
  command.insert(command.end(), flags.begin(), flags.end());
  if (is_precompiled(precompiled)) command.push_back("-I" + std::filesystem::absolute(precompiled).string());
  for (const std::string& part :
       {"-I" + std::filesystem::absolute(source_directory).string(), std::string("-o"), object, source})
    command.push_back(part);
  const Result<int> status =
      run_command(command, environment, {output->descriptor(), folder.descriptor()}, stop);
  if (!status) return status.error();
  if (*status != 0) {
    return failed("{} ends with status {} on {}; what it says is in {}", compiler, *status,
                  folder.path() + "/" + source, folder.path() + "/" + log);
  }
  return {};
}

}  // namespace mneme
