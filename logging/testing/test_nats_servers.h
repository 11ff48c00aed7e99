// For tests: a cluster of NATS servers, as scripts/replicated-log starts it, that goes away with this.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace mneme::test {

class NatsServers {
 public:
  explicit NatsServers(uint32_t count) {
    std::string name = (std::filesystem::temp_directory_path() / "mneme-nats-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    addresses_ = run("start", fmt::format("--servers {}", count));
    EXPECT_FALSE(addresses_.empty()) << "no NATS servers";
  }
  ~NatsServers() {
    run("stop");
    std::filesystem::remove_all(folder_);
  }
  NatsServers(const NatsServers&) = delete;
  NatsServers& operator=(const NatsServers&) = delete;

  const std::string& addresses() const { return addresses_; }
  void kill_now(uint32_t number) { run("kill", std::to_string(number)); }
  void start(uint32_t number) { run("restart", std::to_string(number)); }
  uint32_t leader(const std::string& stream) {
    return static_cast<uint32_t>(std::stoul(run("leader", stream)));
  }
  // With lines behind those of its configuration, which stand above them.
  void restart_with(uint32_t number, const std::string& lines) {
    kill_now(number);
    { std::ofstream(fmt::format("{}/server-{}.conf", folder_, number), std::ios::app) << lines << '\n'; }
    start(number);
  }
  // Stops and goes on, as a machine that hangs.
  void freeze(uint32_t number) { ::kill(process(number), SIGSTOP); }
  void thaw(uint32_t number) { ::kill(process(number), SIGCONT); }

 private:
  pid_t process(uint32_t number) const {
    std::ifstream file(folder_ + "/state.json");
    return nlohmann::json::parse(file)["servers"][number]["pid"].get<pid_t>();
  }
  // Returns what the script prints, without the end of its line.
  std::string run(const std::string& action, const std::string& more = "") {
    const std::string command =
        fmt::format("{}/scripts/replicated-log nats {} {} {}", MNEME_SOURCE_DIR, action, folder_, more);
    FILE* output = ::popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> piece;
    for (size_t got = 0; (got = std::fread(piece.data(), 1, piece.size(), output)) > 0;)
      text.append(piece.data(), got);
    EXPECT_EQ(::pclose(output), 0) << command;
    return text.substr(0, text.find('\n'));
  }

  std::string folder_;
  std::string addresses_;
};

}  // namespace mneme::test
