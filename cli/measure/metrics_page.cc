#include "cli/measure/metrics_page.h"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <utility>

#include "base/processor_time.h"
#include "cli/output/output.h"
#include "logging/commit/directory_log.h"
#include "measurement/machine/build.h"
#include "recovery/database/data_directory.h"
#include "recovery/demand/demand_recovery.h"

namespace mneme {
namespace {

constexpr double kNanosecond = 1e-9;
// A client that connects and says nothing keeps one of them, for the library's time-out.
constexpr size_t kThreads = 4;

}  // namespace

prometheus::ClientMetric& MetricList::add(const char* name, const char* help, prometheus::MetricType type) {
  prometheus::MetricFamily& family = families_.emplace_back();
  family.name = name;
  family.help = help;
  family.type = type;
  return family.metric.emplace_back();
}

void MetricList::counter(const char* name, const char* help, double value) {
  add(name, help, prometheus::MetricType::Counter).counter.value = value;
}

void MetricList::gauge(const char* name, const char* help, double value) {
  add(name, help, prometheus::MetricType::Gauge).gauge.value = value;
}

void MetricList::info(const char* name, const char* help, const char* label, std::string value) {
  prometheus::ClientMetric& metric = add(name, help, prometheus::MetricType::Gauge);
  metric.label.push_back({label, std::move(value)});
  metric.gauge.value = 1;
}

void MetricList::summary(const char* name, const char* help, uint64_t count, double sum,
                         std::vector<prometheus::ClientMetric::Quantile> quantiles) {
  prometheus::ClientMetric::Summary& summary = add(name, help, prometheus::MetricType::Summary).summary;
  summary.sample_count = count;
  summary.sample_sum = sum;
  summary.quantile = std::move(quantiles);
}

void add_process(MetricList& list) {
  list.info("mneme_build_info", "The program's version.", "version", std::string(this_build().version));
  list.counter("process_cpu_seconds_total", "Processor time, the system's for this process included.",
               static_cast<double>(process_processor_ns()) * kNanosecond);
  list.gauge("process_resident_memory_bytes", "Memory of this process.",
             static_cast<double>(resident_bytes()));
}

void add_log(MetricList& list, const DirectoryLog& log) {
  const LogCounters counters = log.counters();
  list.counter("mneme_log_records_total", "Records that transactions appended.",
               static_cast<double>(counters.log_records));
  list.counter("mneme_log_record_bytes_total", "Bytes of these records, headers included.",
               static_cast<double>(counters.log_bytes));
  list.counter("mneme_log_device_bytes_total", "Bytes that the log wrote, blocks and padding included.",
               static_cast<double>(counters.device.device_bytes));
  list.counter("mneme_log_segment_waits_total", "Flushes that waited for a segment to be made.",
               static_cast<double>(counters.device.segment_waits));
  list.counter("mneme_log_segments_reused_total", "Segments whose files a checkpoint had passed.",
               static_cast<double>(counters.device.segments_reused));
  const Histogram& flushes = counters.flusher.flush_ns;
  std::vector<prometheus::ClientMetric::Quantile> quantiles;
  for (const double q : {0.5, 0.9, 0.99, 0.999, 1.0})
    quantiles.push_back({q, static_cast<double>(flushes.quantile(q)) * kNanosecond});
  list.summary("mneme_log_flush_seconds", "From a flush's begin until it is durable, since the start.",
               flushes.count(), flushes.mean() * static_cast<double>(flushes.count()) * kNanosecond,
               std::move(quantiles));
  list.gauge("mneme_log_durable_lsn", "All records below it are durable.",
             static_cast<double>(log.durable().value));
}

void add_clients(MetricList& list, const Server::Counters& counters) {
  list.counter("mneme_clients_total", "Clients that the server has accepted.",
               static_cast<double>(counters.clients));
  list.counter("mneme_clients_refused_total", "Clients for whom there was no room.",
               static_cast<double>(counters.refused));
}

void add_database(MetricList& list, WorkingDatabase& working) {
  add_log(list, working.log());
  list.gauge("mneme_memory_bytes", "Memory of rows and indexes, free room included.",
             static_cast<double>(working.database().memory_bytes()));
  list.gauge("mneme_recovered", "1 once all of the log that was there is in the rows.",
             working.is_recovered() ? 1 : 0);
  const DemandRecovery* const rest = working.rest();
  list.gauge("mneme_recovered_ratio", "How much of it is in the rows (--open on-demand).",
             rest == nullptr ? 1 : rest->settled_share());
}

class MetricsPage::Collector final : public prometheus::Collectable {
 public:
  explicit Collector(MetricsPage::Collect collect) : collect_(std::move(collect)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    MetricList list;
    add_process(list);
    collect_(list);
    return list.take();
  }

 private:
  const MetricsPage::Collect collect_;
};

Result<std::unique_ptr<MetricsPage>> MetricsPage::open(uint16_t port, Collect collect) {
  std::unique_ptr<MetricsPage> page(new MetricsPage());
  page->collector_ = std::make_shared<Collector>(std::move(collect));
  // The library tells its errors by exceptions.
  try {
    page->exposer_ = std::make_unique<prometheus::Exposer>(fmt::format("127.0.0.1:{}", port), kThreads);
  } catch (const std::exception& error) {
    return failed(
        "no metrics can be served on 127.0.0.1:{}: {}; the port is taken, or not this user's: name another "
        "one by --metrics, or 0 for a free one",
        port, error.what());
  }
  page->exposer_->RegisterCollectable(page->collector_);
  return page;
}

Result<std::unique_ptr<MetricsPage>> MetricsPage::open_if(std::optional<uint16_t> port, const Output& output,
                                                          Collect collect) {
  if (!port) return std::unique_ptr<MetricsPage>();
  Result<std::unique_ptr<MetricsPage>> page = open(*port, std::move(collect));
  if (page) output.notice(fmt::format("metrics are on {}", (*page)->address()));
  return page;
}

MetricsPage::~MetricsPage() = default;

std::string MetricsPage::address() const {
  return fmt::format("http://127.0.0.1:{}/metrics", exposer_->GetListeningPorts().at(0));
}

}  // namespace mneme
