// mneme crash-target: opens a data directory and runs the calls that come over inherited sockets: the process
// that `mneme crash` and `mneme demo` start in order to kill it.
#include <memory>
#include <mutex>
#include <thread>

#include "cli/command/commands.h"
#include "cli/crash/call_server.h"
#include "cli/measure/workload_database.h"
#include "cli/option/checkpoint_settings.h"
#include "cli/option/concurrency_option.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/log_content_settings.h"
#include "cli/option/log_device_settings.h"
#include "cli/option/option_table.h"
#include "cli/output/output.h"

namespace mneme {
namespace {

struct CrashTargetCommand {
  std::string directory;
  LogDeviceSettings device;
  uint64_t device_seed = 1;
  std::vector<int> channels;
  ExecutionOption execution;
  ConcurrencyOption concurrency;
  LogBufferSettings buffer;
  CheckpointSettings checkpoints;
  LogContentSettings content;

  Result<void> run(const CLI::App& command) {
    DurableLogOptions options;
    RETURN_IF_ERROR(buffer.choose(command, options));
    options.workers = static_cast<uint32_t>(channels.size());
    RETURN_IF_ERROR(checkpoints.choose(command, options));
    RETURN_IF_ERROR(device.choose(command, options));
    if (traits_of(options.device).is_bounded) RETURN_IF_ERROR(checkpoints.take_when_full(options));
    options.device_options.lossy_seed = device_seed;
    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();
    const Result<Concurrency> kept_apart = concurrency.get();
    if (!kept_apart) return kept_apart.error();
    Result<WorkloadDatabase> opened =
        WorkloadDatabase::open(directory, options, content.hints == "on", *wanted, /*scheme=*/nullptr,
                               /*on_demand=*/std::nullopt, /*quiet=*/true);
    if (!opened) return opened.error();
    WorkingDatabase& working = opened->working();
    working.database().set_concurrency(*kept_apart);

    const Output output;
    const auto schedule = checkpoints.start(opened->working(), opened->recovered(), &output);
    SessionOptions session{opened->procedures().functions()};
    session.told = opened->told();
    content.choose(session, device_seed);
    const auto adaptive = content.start_adaptive(working.program(), working.database(), session);
    std::mutex mutex;
    std::optional<Error> first_error;
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < channels.size(); ++i) {
      threads.emplace_back([&, i] {
        CallServer server(working.program(), working.database(), WorkerId{i}, session,
                          CallChannel(channels[i]));
        if (Result<void> result = server.run(); !result) {
          const std::lock_guard lock(mutex);
          if (!first_error) first_error = result.error();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (first_error) return *first_error;
    return {};
  }
};

}  // namespace

void add_crash_target_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<CrashTargetCommand>();
  CLI::App* app = program.add_subcommand("crash-target",
                                         "run the calls that come over inherited sockets (used by crash)");
  const OptionTaker take(*app);
  take("directory", command->directory);
  command->device.add_options(*app);
  take("--device-seed", command->device_seed);
  command->execution.add_option(*app);
  command->concurrency.add_options(*app);
  take("--channel", command->channels);
  command->buffer.add_options(*app);
  command->checkpoints.add_options(*app);
  command->content.add_run_options(*app);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
