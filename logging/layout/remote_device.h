// RemoteDevice: the log on other machines: in the memories of one to three, each of which runs `mneme logd`,
// or at the servers of a replicated log.
//
// Flow        the FileDevice's blocks, chains and segments, through a RemoteQueue or a ReplicatedQueue in
//             place of files
// Invariants  durable is what a majority of the servers has told of. The log goes round in a bounded number
//             of segments (remote_segments.h). The manifest's attributes name the servers before it lists the
//             first segment there.
// Threads, waiting  as LogDevice says.
// Errors      opening: the servers can't be written to. Later: as the queue says.
// Source      Ebenstein, SepLog.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "logging/commit/remote_options.h"
#include "logging/device/file_device.h"
#include "logging/remote/remote_segments.h"
#include "logging/replicated/replicated_log.h"

namespace mneme {

class RemoteDevice : public LogDevice {
 public:
  // The directory's incarnation is the term. Without `replicated` the servers are log servers of our own.
  static Result<std::unique_ptr<RemoteDevice>> open(ManifestFile& manifest, FileDeviceOptions file,
                                                    const RemoteLogOptions& remote,
                                                    const std::optional<ReplicatedLogOptions>& replicated);

  Lsn append(const LogSource& source, Lsn begin, Lsn end) override {
    return device_->append(source, begin, end);
  }
  Lsn wait(std::chrono::nanoseconds limit) override { return device_->wait(limit); }
  void wake() override { device_->wake(); }
  DeviceCounters counters() const override { return device_->counters(); }
  LogSpace space() override { return segments_->space(); }
  std::optional<Error> failure() const override { return device_->failure(); }

  const std::vector<std::string>& notices() const { return notices_; }

 private:
  RemoteDevice(std::unique_ptr<RemoteSegments> segments, std::unique_ptr<FileDevice> device,
               std::vector<std::string> notices)
      : notices_(std::move(notices)), segments_(std::move(segments)), device_(std::move(device)) {}

  const std::vector<std::string> notices_;
  const std::unique_ptr<RemoteSegments> segments_;
  const std::unique_ptr<FileDevice> device_;  // last: it ends first, as it uses the segments
};

}  // namespace mneme
