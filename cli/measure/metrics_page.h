// MetricsPage: what a process is doing, as a page in Prometheus' text format: http://127.0.0.1:PORT/metrics.
//
// Names       mneme_..., in base units (seconds, bytes); what only grows ends with _total.
// Access      the loopback interface alone: it holds numbers, and no rows.
// Threads     the library's ask for the families; collectors look at what any thread may.
// Errors      open(): the port is taken.
// Source      Prometheus' exposition formats, text-based format 0.0.4; prometheus-cpp serves it.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/listener/server.h"

namespace prometheus {
class Exposer;
}  // namespace prometheus

namespace mneme {

class DirectoryLog;
class Output;
class WorkingDatabase;

class MetricList {
 public:
  // Each is a family of one metric.
  void counter(const char* name, const char* help, double value);
  void gauge(const char* name, const char* help, double value);
  // Always 1; what it tells is its label.
  void info(const char* name, const char* help, const char* label, std::string value);
  void summary(const char* name, const char* help, uint64_t count, double sum,
               std::vector<prometheus::ClientMetric::Quantile> quantiles);

  std::vector<prometheus::MetricFamily> take() { return std::move(families_); }

 private:
  prometheus::ClientMetric& add(const char* name, const char* help, prometheus::MetricType type);

  std::vector<prometheus::MetricFamily> families_;
};

// The program and its process: version, processor time, memory.
void add_process(MetricList& list);
// A log's records, bytes and flushes, and how far it is durable.
void add_log(MetricList& list, const DirectoryLog& log);
// A server's.
void add_clients(MetricList& list, const Server::Counters& counters);
// The log, the memory of its rows, and whether all of its log has been replayed. Any thread.
void add_database(MetricList& list, WorkingDatabase& working);

class MetricsPage {
 public:
  using Collect = std::function<void(MetricList&)>;

  // `port` 0: one that is free. `collect` is called for each request, until the page ends.
  static Result<std::unique_ptr<MetricsPage>> open(uint16_t port, Collect collect);
  // The same if there is a port, and tells the user where; else null.
  static Result<std::unique_ptr<MetricsPage>> open_if(std::optional<uint16_t> port, const Output& output,
                                                      Collect collect);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  std::string address() const;  // http://127.0.0.1:9187/metrics

 private:
  class Collector;
  MetricsPage() = default;

  std::shared_ptr<Collector> collector_;
  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace mneme
