// The RemoteHolder of log servers of our own (mneme logd).
#pragma once

#include <memory>

#include "base/result.h"
#include "logging/device/log_device_kind.h"
#include "logging/device/remote_holder.h"
#include "logging/device/remote_options.h"

namespace mneme {

Result<std::unique_ptr<RemoteHolder>> make_server_holder(LogDeviceKind kind, const RemoteLogOptions& remote);

}  // namespace mneme
