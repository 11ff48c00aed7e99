#include "logging/layout/epoch_log.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace mneme {

namespace {

constexpr uint32_t kWorkersOfALogger = 8;

uint32_t logger_count(const DurableLogOptions& options) {
  const EpochOptions& epoch = options.epoch;
  if (epoch.loggers > 0) return epoch.loggers;
  const uint32_t by_workers = (options.workers + kWorkersOfALogger - 1) / kWorkersOfALogger;
  const auto by_directories = static_cast<uint32_t>(options.stream_directories.size());
  return std::min({std::max(by_workers, by_directories), options.workers, kMostLoggers});
}

DeviceOptions device_options(const DurableLogOptions& options, uint64_t salt) {
  DeviceOptions device = options.device_options;
  device.lossy_seed += salt;
  return device;
}

// Which logger a worker belongs to: neighbours share one, and helpers have the last worker's.
uint32_t logger_of(uint32_t worker, uint32_t workers, uint32_t loggers) {
  return static_cast<uint32_t>(uint64_t{std::min(worker, workers - 1)} * loggers / workers);
}

}  // namespace

Result<void> check_epoch_options(const DurableLogOptions& options) {
  const LogDeviceTraits& device = traits_of(options.device);
  if (!device.has_flusher) {
    return invalid_argument(
        "on {} each worker makes its own records durable, and loggers gather them: leave --log-buffer epoch "
        "out, or "
        "choose another log device",
        name_of(options.device));
  }
  if (device.has_servers) {
    return invalid_argument(
        "the loggers of --log-buffer epoch write files, and on {} one stream goes to the servers: leave "
        "--log-buffer epoch out, or choose the device file",
        name_of(options.device));
  }
  if (device.is_striped) {
    return invalid_argument(
        "the loggers of --log-buffer epoch write side by side by themselves, which the device striped does "
        "for one "
        "stream: choose the device file, and name the loggers' directories by --log-directory");
  }
  if (options.epoch.loggers > options.workers) {
    return invalid_argument("{} loggers of {} workers: each logger needs a worker", options.epoch.loggers,
                            options.workers);
  }
  if (options.epoch.loggers > kMostLoggers) {
    return invalid_argument("{} loggers: there are {} at most", options.epoch.loggers, kMostLoggers);
  }
  return {};
}

Result<std::unique_ptr<EpochLog>> EpochLog::open(ManifestFile& manifest, const DurableLogOptions& options) {
  CHECK(options.workers > 0);
  CHECK(options.largest_payload_bytes <= kMaxPayloadBytes);
  CHECK(options.epoch.interval.count() > 0);
  CHECK(!options.stream_directories.empty());
  RETURN_IF_ERROR(check_epoch_options(options));
  const uint32_t loggers = logger_count(options);
  const Manifest current = manifest.current();
  const Incarnation& incarnation = current.incarnations.back();
  for (const SegmentEntry& each : current.segments) CHECK(each.incarnation < incarnation.number);

  // Before the first segment: a directory that lists segments has the file.
  std::unique_ptr<PepochFile> pepoch;
  if (traits_of(options.device).has_segments) {
    auto opened = PepochFile::open(manifest, options.device, device_options(options, loggers));
    if (!opened.ok()) return opened.error();
    pepoch = std::move(*opened);
    // So a file without a slot of this opening has lost it: no crash leaves it so once there are segments.
    const LogEpoch before{std::max<uint64_t>(epoch_of(incarnation.begin).value, 1) - 1};
    RETURN_IF_ERROR(
        pepoch->write(before, incarnation.begin, std::vector<StreamPosition>(loggers, kFirstPosition)));
  }
  FileDeviceOptions file;
  file.largest_record_bytes = kRecordHeaderBytes + options.largest_payload_bytes;
  file.segment_bytes = std::max(options.segments.bytes, 2 * file.largest_record_bytes + (size_t{16} << 10));
  file.segments_ahead = options.segments.ahead;
  file.numbers = std::make_shared<SegmentNumbers>(current);
  std::vector<OpenedDevice> devices;
  for (uint32_t logger = 0; logger < loggers; ++logger) {
    file.logger = logger;
    file.directories = {options.stream_directories[logger % options.stream_directories.size()]};
    auto device = open_log_device(options.device, manifest, file, device_options(options, logger));
    if (!device.ok()) return device.error();
    devices.push_back(std::move(*device));
  }
  return std::unique_ptr<EpochLog>(
      new EpochLog(manifest, options, incarnation.begin, std::move(devices), std::move(pepoch)));
}

EpochLog::EpochLog(ManifestFile& manifest, const DurableLogOptions& options, Lsn begin,
                   std::vector<OpenedDevice> devices, std::unique_ptr<PepochFile> file)
    : manifest_(manifest),
      options_(options),
      begin_(begin),
      states_(std::make_unique<CachePadded<WorkerState>[]>(options.appenders())),
      horizon_(begin),
      clock_(begin, options.epoch.interval) {
  if (file != nullptr) notices_ = file->notices();
  const auto loggers = static_cast<uint32_t>(devices.size());
  LoggerBufferOptions buffer;
  buffer.largest_record_bytes = kRecordHeaderBytes + options.largest_payload_bytes;
  buffer.ring_bytes = std::bit_ceil(std::max(
      {options.ring_bytes / options.appenders(), 4 * buffer.largest_record_bytes, AlignedBytes::kAlignment}));
  for (uint32_t logger = 0; logger < loggers; ++logger) {
    buffer.members = 0;
    for (uint32_t worker = 0; worker < options.appenders(); ++worker) {
      if (logger_of(worker, options.workers, loggers) == logger) states_[worker]->member = buffer.members++;
    }
    for (const std::string& notice : devices[logger].notices) {
      if (std::ranges::find(notices_, notice) == notices_.end()) notices_.push_back(notice);
    }
    loggers_.push_back(
        std::make_unique<EpochLogger>(clock_, horizon_, std::move(devices[logger].device), begin, buffer));
  }
  for (uint32_t worker = 0; worker < options.appenders(); ++worker) {
    states_[worker]->buffer = &loggers_[logger_of(worker, options.workers, loggers)]->buffer();
  }
  keeper_ = std::make_unique<PepochKeeper>(clock_, horizon_, begin, std::move(file), loggers_);
}

// In the order in which a record passes them: each thread finds all that the one before it has done.
EpochLog::~EpochLog() {
  clock_.stop();
  for (const auto& logger : loggers_) logger->finish();
  keeper_.reset();
  if (traits_of(options_.device).notes_close && !horizon_.has_failed())
    note_closed(manifest_, horizon_.durable());
}

bool EpochLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  CHECK(payload_bytes <= options_.largest_payload_bytes);
  const WorkerState& state = *states_[worker.value];
  // The records that fill the ring are written once their epoch has ended.
  if (!state.buffer->has_space(state.member)) clock_.hurry();
  return state.buffer->await_space(state.member);
}

Lsn EpochLog::reserve(WorkerId worker, uint32_t payload_bytes) {
  WorkerState& state = *states_[worker.value];
  state.writer.reserve(payload_bytes);
  return state.buffer->reserve(state.member);
}

void EpochLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  WorkerState& state = *states_[worker.value];
  state.writer.fill({lsn, kind}, payload, RecordLayout().checksum_seed,
                    [&](ByteSpan header, ByteSpan body) { state.buffer->fill(state.member, header, body); });
}

bool EpochLog::wait_durable(Lsn lsn) {
  if (lsn < durable()) return true;
  if (options_.group.waiters_hurry && epoch_of(lsn) >= clock_.epoch()) clock_.hurry();
  return horizon_.await(lsn);
}

std::optional<GroupCommit> EpochLog::group() const {
  return GroupCommit{.interval = options_.epoch.interval, .waiters_hurry = options_.group.waiters_hurry};
}

LogCounters EpochLog::counters() const {
  LogCounters sum;
  for (uint32_t worker = 0; worker < options_.appenders(); ++worker) {
    sum.log_records += states_[worker]->writer.records();
    sum.log_bytes += states_[worker]->writer.bytes();
  }
  for (const auto& logger : loggers_) {
    sum.add({.device = logger->device_counters(), .flusher = logger->flusher_counters()});
  }
  sum.epochs = EpochCounters{.loggers = static_cast<uint32_t>(loggers_.size()),
                             .interval = options_.epoch.interval,
                             .pepoch_writes = keeper_->writes()};
  if (const Lsn until = durable(); until > begin_) sum.epochs->pepoch = epoch_of(until).value - 1;
  return sum;
}

}  // namespace mneme
