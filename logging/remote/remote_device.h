// RemoteDevice: the log on other machines: in the memories of one to three, each of which runs `mneme logd`,
// or at the servers of a replicated log.
//
// Flow        the FileDevice's blocks, chains and segments, through a RemoteQueue or a ReplicatedQueue in
//             place of files
// Invariants  a record is durable once a majority of the servers has reported it. The log goes round in a
//             bounded number of segments (remote_segments.h). The manifest's attributes name the servers
//             before it lists the first segment there.
// Threads, waiting  as LogDevice says.
// Errors      opening: the servers can't be written to. Later: as the queue says.
// Source      Ebenstein, SepLog.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log_term.h"
#include "logging/device/device_factory.h"
#include "logging/device/file_device.h"
#include "logging/device/remote_options.h"
#include "logging/remote/remote_segments.h"

namespace mneme {

// A queue to the servers, and what the manifest has to say of them.
struct OpenedServers {
  std::unique_ptr<IoQueue> queue;
  std::vector<std::string> notices;
  std::map<std::string, std::string> attributes;
};
using ServerOpener = std::function<Result<OpenedServers>(size_t segment_bytes, RemoteSegments& segments)>;

// The term that an engine writes in: the directory's incarnation, by the owner that claimed it.
LogTerm term_of(const Manifest& manifest, const RemoteLogOptions& remote);

// Registers the device of log servers of our own (server_devices.h). Any thread, any number of times, before
// such a log is opened.
void register_remote_device();

class RemoteDevice : public LogDevice {
 public:
  static Result<OpenedDevice> open(LogDeviceRequest request, const ServerOpener& open_servers);

  StreamPosition append(const LogSource& source, StreamPosition begin, StreamPosition end) override {
    return device_->append(source, begin, end);
  }
  StreamPosition wait(std::chrono::nanoseconds limit) override { return device_->wait(limit); }
  void wake() override { device_->wake(); }
  DeviceCounters counters() const override { return device_->counters(); }
  LogSpace space() override { return segments_->space(); }
  std::optional<Error> failure() const override { return device_->failure(); }

 private:
  RemoteDevice(std::unique_ptr<RemoteSegments> segments, std::unique_ptr<FileDevice> device)
      : segments_(std::move(segments)), device_(std::move(device)) {}

  const std::unique_ptr<RemoteSegments> segments_;
  const std::unique_ptr<FileDevice> device_;  // last: it ends first, as it uses the segments
};

}  // namespace mneme
