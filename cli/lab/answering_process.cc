#include "cli/lab/answering_process.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file/file.h"
#include "cli/crash/child_process.h"
#include "lab/laboratory.h"

namespace mneme {
namespace {

// The files of an answer's folder, beside which the laboratory has one of its own.
std::string request_file(const std::string& folder) {
  return folder + "/request";
}
std::string answer_file(const std::string& folder) {
  return folder + "/answer";
}

// A new folder that no other user may look into, and that goes with its owner.
class PrivateFolder {
 public:
  PrivateFolder() : path_(place() + "/mneme-laboratory-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }  // empty: none could be made
  static std::string place() {
    const char* const chosen = std::getenv("TMPDIR");
    return chosen == nullptr || *chosen == 0 ? "/tmp" : chosen;
  }

 private:
  std::string path_;
};

std::string error_answer(const std::string& sentence) {
  return nlohmann::json{{"error", sentence}}.dump();
}

}  // namespace

Result<std::string> answer_apart(std::string_view request, std::chrono::milliseconds limit) {
  const PrivateFolder folder;
  if (folder.path().empty())
    return failed("no temporary folder can be made in {}: {}", PrivateFolder::place(), std::strerror(errno));
  RETURN_IF_ERROR(replace_text_file(request_file(folder.path()), request));
  Result<ChildProcess> child = ChildProcess::start_told({"lab-answer", folder.path()});
  if (!child) return child.error();
  const ChildProcess::Ending ending = child->wait(limit);
  if (ending.killed) {
    return error_answer(
        fmt::format("the script has not ended after {} seconds, and was stopped: does a loop have no end?",
                    std::chrono::duration<double>(limit).count()));
  }
  if (ending.exit_status != 0) {
    return error_answer(
        fmt::format("the engine has ended with status {}: does the script need more memory than there is?",
                    ending.exit_status));
  }
  return read_text_file(answer_file(folder.path()));
}

Result<void> answer_in_folder(const std::string& folder) {
  const rlimit memory{kMostAnsweringBytes, kMostAnsweringBytes};
  if (setrlimit(RLIMIT_AS, &memory) != 0)
    return failed("the process's memory cannot be bounded: {}", std::strerror(errno));
  const Result<std::string> request = read_text_file(request_file(folder));
  if (!request) return request.error();
  const std::string place = folder + "/laboratory";
  std::error_code error;
  if (!std::filesystem::create_directory(place, error)) return failed("cannot make the folder {}", place);
  return replace_text_file(answer_file(folder), lab::answer(*request, place));
}

}  // namespace mneme
