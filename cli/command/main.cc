// mneme: the program. Exit status: 0 done; 1 the run or a check failed; 2 bad arguments; 3 the data is
// damaged; 130 interrupted, with the result so far.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/exhaustion.h"
#include "cli/command/commands.h"
#include "cli/option/help_text.h"
#include "cli/output/interrupt.h"
#include "cli/output/output.h"
#include "cli/output/parse_error_text.h"
#include "logging/remote/remote_device.h"
#include "logging/replicated/replicated_device.h"
#include "measurement/machine/build.h"

namespace {

int exit_status(mneme::ErrorKind kind) {
  switch (kind) {
    case mneme::ErrorKind::kFailed:
      return 1;
    case mneme::ErrorKind::kInvalidArgument:
      return 2;
    case mneme::ErrorKind::kDamaged:
      return 3;
  }
  return 1;
}

// If the parent has closed a standard stream, the system would give its number to the next file that is
// opened, and messages would be written into the log.
void open_standard_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  // A write beyond the limit on the size of files is then an error like a full disk's, and no death by a
  // signal.
  std::signal(SIGXFSZ, SIG_IGN);
  mneme::end_when_exhausted();
  mneme::register_remote_device();
  mneme::register_replicated_devices();

  CLI::App program("Mneme: a main-memory OLTP engine with a command log and parallel recovery", "mneme");
  program.require_subcommand(1);
  program.failure_message([](const CLI::App* app, const CLI::Error& error) {
    return fmt::format("mneme: {}\n", mneme::parse_error_text(*app, error));
  });
  program.formatter(std::make_shared<mneme::HelpFormatter>());
  program.set_help_all_flag("--help-all", "all options, with all that there is to say of them");
  program.set_version_flag("--version", mneme::version_text(mneme::this_build()));
  mneme::Action chosen;
  mneme::add_commands(program, chosen);

  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    errno = 0;
    if (program.exit(error) != 0) return 2;
    // what was asked for has been printed: help, or the version
    chosen = [] { return mneme::Result<void>(); };
  }

  mneme::Result<void> result = chosen();
  if (result.ok()) result = mneme::check_standard_output();
  if (result.ok()) return mneme::Interrupt::has_come() ? mneme::kInterruptedStatus : 0;
  std::fprintf(stderr, "mneme: %s\n", result.error().message.c_str());
  return exit_status(result.error().kind);
}
