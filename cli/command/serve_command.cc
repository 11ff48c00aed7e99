// mneme serve: a database behind PostgreSQL's protocol.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command/commands.h"
#include "cli/command/stop_signals.h"
#include "cli/measure/metrics_page.h"
#include "cli/measure/recovery_text.h"
#include "cli/measure/workload_database.h"
#include "cli/option/checkpoint_settings.h"
#include "cli/option/concurrency_option.h"
#include "cli/option/execution_option.h"
#include "cli/option/log_buffer_settings.h"
#include "cli/option/log_content_settings.h"
#include "cli/option/log_device_settings.h"
#include "cli/option/open_option.h"
#include "cli/option/option_table.h"
#include "cli/option/output_options.h"
#include "cli/option/server_settings.h"
#include "cli/option/workload_settings.h"
#include "cli/output/output.h"
#include "cli/output/text.h"
#include "embedding/embedded_database.h"
#include "engine/schema/qualified_name.h"
#include "logging/directory/manifest.h"
#include "procedures/parser/written_names.h"
#include "server/listener/server.h"

namespace mneme {
namespace {

// The server that the signals stop.
Server* database_server = nullptr;

void stop_database_server(int) {
  database_server->stop();
}

struct ServeCommand {
  std::string directory;
  bool create = false;
  std::string workload;
  WorkloadSettings settings;
  ServerSettings server;
  uint32_t threads = default_threads();
  LogContentSettings content;
  // A thread of the server's waits for what clients wait for, so it may write the log as well.
  LogDeviceSettings device{"file", IoMethod::kInline};
  LogBufferSettings buffer;
  CheckpointSettings checkpoints;
  ExecutionOption execution;
  ConcurrencyOption concurrency;
  OpenOption open;
  std::optional<uint16_t> metrics;
  Output output;

  Result<void> run(const CLI::App& command) {
    const Result<Execution> wanted = execution.get();
    if (!wanted) return wanted.error();
    const Result<Concurrency> kept_apart = concurrency.get();
    if (!kept_apart) return kept_apart.error();
    RETURN_IF_ERROR(open.check(command));
    if (!workload.empty() && !create) {
      return invalid_argument(
          "--workload says what a new database begins with: say --create, too, or leave it out");
    }
    if (command.count("--warehouses") > 0 && workload.empty())
      return invalid_argument("--scale is of a workload: name it by --workload, or leave it out");
    if (command.count("--log") > 0 && !create)
      return invalid_argument(
          "--log says what a new database's log is to hold: say --create, too, or leave it out");
    if (content.is_off()) return invalid_argument("a server's database has a log: leave --log off out");
    Result<ServerOptions> options = server.choose(command, threads, output);
    if (!options) return options.error();

    EmbeddedOptions opening;
    opening.connections = seats_of(*options);
    opening.execution = *wanted;
    opening.concurrency = *kept_apart;
    opening.on_demand = open.on_demand();
    opening.most_bulk_seconds = open.wait_seconds;
    options->statements_wait = kept_apart->control == ConcurrencyControl::kTwoPhaseLocking;
    opening.notice = [this](const std::string& sentence) { output.notice(sentence); };
    opening.lock_timeout = std::nullopt;
    RETURN_IF_ERROR(buffer.choose(command, opening.log));
    RETURN_IF_ERROR(checkpoints.choose(command, opening.log));
    RETURN_IF_ERROR(device.choose(command, opening.log));
    if (traits_of(opening.log.device).is_bounded) RETURN_IF_ERROR(checkpoints.take_when_full(opening.log));
    RETURN_IF_ERROR(concurrency.check_device(command, opening.log));
    const Result<LogContent> records = content.content();
    if (!records) return records.error();
    opening.records = records->records;
    RETURN_IF_ERROR(make_database(opening.log, *records, *wanted));

    Result<std::unique_ptr<EmbeddedDatabase>> database = EmbeddedDatabase::open(directory, opening);
    if (!database) return database.error();
    RETURN_IF_ERROR(list_rows(**database));
    const auto schedule = checkpoints.start((*database)->working(), (*database)->recovered(), &output);
    Result<std::unique_ptr<Server>> started = Server::start(**database, *options);
    if (!started) return started.error();
    const Result<std::unique_ptr<MetricsPage>> page = MetricsPage::open_if(
        metrics, output, [&database = **database, &server = **started](MetricList& list) {
          add_database(list, database.working());
          add_clients(list, server.counters());
        });
    if (!page) return page.error();
    database_server = started->get();
    stop_on_signals(stop_database_server);
    tell_ready(**started);
    const Result<void> served = (*started)->run();
    const Server::Counters counters = (*started)->counters();
    RETURN_IF_ERROR(output.json(
        {{"command", "serve"}, {"clients", counters.clients}, {"refused_clients", counters.refused}}));
    return served;
  }

 private:
  // Where a workload is wanted; an empty database EmbeddedDatabase makes.
  Result<void> make_database(const DurableLogOptions& log, const LogContent& records, Execution wanted) {
    if (holds_database(directory)) return {};
    if (!create) {
      return invalid_argument("{} holds no database: name another directory, or make one there with --create",
                              directory);
    }
    if (workload.empty()) return {};
    settings.choose(workload);
    DurableLogOptions loading = log;
    loading.workers = 1;
    const Result<WorkloadDatabase> made =
        WorkloadDatabase::create(directory, settings, records, loading, wanted, output.quiet());
    if (!made) return made.error();
    return {};
  }

  // Clients read any table as a whole. Where one of a file has no primary key, an index lists its rows from
  // now on.
  Result<void> list_rows(EmbeddedDatabase& database) const {
    std::vector<std::string> wanted;
    const Catalog& catalog = database.working().program().catalog;
    for (const TableDefinition& table : catalog.tables()) {
      const bool has_list = std::ranges::any_of(
          table.indexes, [&](IndexId index) { return catalog.index(index).columns.empty(); });
      if (!table.primary_key && !has_list) wanted.push_back(table.name);
    }
    if (wanted.empty()) return {};
    Result<Connection> connection = database.connect();
    if (!connection) return connection.error();
    for (const std::string& table : wanted) {
      std::string name = table + "_rows";
      for (int number = 1; database.working().program().catalog.has_relation(name); ++number)
        name = fmt::format("{}_rows{}", table, number);
      const StatementResult made = connection->run(
          fmt::format("CREATE INDEX {} ON {} ()", written_name(bare_name(name)), written_name(table)));
      if (!made.sqlstate.empty())
        return failed("no index can be made that lists the rows of {}: {}", table, made.message);
      output.notice(fmt::format("{} has no primary key: the index {} lists its rows", table, name));
    }
    return {};
  }
};

}  // namespace

void add_serve_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<ServeCommand>();
  CLI::App* app =
      program.add_subcommand("serve", "a server that PostgreSQL's clients drive: psql, pgbench, drivers");
  const OptionTaker take(*app);
  take("directory", command->directory);
  take("--create", command->create);
  take("--workload", command->workload);
  take("--warehouses,--scale", command->settings.options.scale);
  take("--log", command->content.log);
  command->server.add_options(*app);
  take("--threads", command->threads);
  take("--metrics", command->metrics);
  command->execution.add_option(*app);
  command->concurrency.add_options(*app);
  command->open.add_option(*app);
  command->buffer.add_options(*app);
  command->device.add_options(*app);
  command->checkpoints.add_options(*app);
  add_output_options(*app, command->output);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
