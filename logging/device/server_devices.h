// The libraries that reach a log's servers. logging/ itself has no network: a library (mneme_logging_remote,
// mneme_logging_replicated) registers what it opens for the kinds of the device table that are its own, and
// the program calls its registration once, before it opens a log.
//
// Threads     any. A registration that is repeated changes nothing.
// Errors      a kind whose library has not registered is refused: kInvalidArgument.
#pragma once

#include <memory>

#include "base/result.h"
#include "logging/device/device_factory.h"
#include "logging/device/log_device_kind.h"
#include "logging/device/remote_holder.h"

namespace mneme {

struct ServerLibrary {
  LogDeviceOpener* open;  // for the engine that writes the log
  // For recovery, which takes a log over or reads it.
  Result<std::unique_ptr<RemoteHolder>> (*hold)(LogDeviceKind kind, const RemoteLogOptions& remote);
};

// `library` lives as long as the program.
void register_server_library(LogDeviceKind kind, const ServerLibrary& library);

Result<std::unique_ptr<RemoteHolder>> make_remote_holder(LogDeviceKind kind, const RemoteLogOptions& remote);

}  // namespace mneme
