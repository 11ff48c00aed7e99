#include "lab/laboratory.h"

#include <algorithm>

#include "lab/forward_run.h"
#include "lab/recovery_run.h"
#include "recovery/database/recover.h"

namespace mneme::lab {

namespace {

Result<uint64_t> number(const Json& object, const char* name, uint64_t otherwise, uint64_t least,
                        uint64_t most) {
  if (!object.contains(name) || object[name].is_null()) return otherwise;
  const Json& value = object[name];
  if (!value.is_number_unsigned() || value.get<uint64_t>() < least || value.get<uint64_t>() > most)
    return invalid_argument("{} is no number from {} to {}", name, least, most);
  return value.get<uint64_t>();
}

Result<std::string> text(const Json& object, const char* name, const char* otherwise) {
  if (!object.contains(name)) return std::string(otherwise);
  if (!object[name].is_string()) return invalid_argument("{} is no text", name);
  return object[name].get<std::string>();
}

// Stores a number or a text, or returns the error.
#define READ(into, ...)                          \
  do {                                           \
    auto read = __VA_ARGS__;                     \
    if (!read) return read.error();              \
    (into) = static_cast<decltype(into)>(*read); \
  } while (false)

constexpr uint64_t kMostSeed = uint64_t{1} << 32;

Result<ForwardRequest> forward_request(const Json& request) {
  ForwardRequest forward;
  READ(forward.setup, text(request, "setup", ""));
  READ(forward.calls, text(request, "calls", ""));
  READ(forward.group, number(request, "group", forward.group, 1, 1000));
  READ(forward.segment_blocks, number(request, "segment_blocks", forward.segment_blocks, 13, 256));
  READ(forward.disk_seed, number(request, "disk_seed", forward.disk_seed, 0, kMostSeed));
  if (request.contains("crash") && request["crash"].is_object()) {
    uint64_t behind = 0;
    READ(behind, number(request["crash"], "behind", 1, 1, kMostSeed));
    forward.crash_behind = behind;
    READ(forward.crash_seed, number(request["crash"], "seed", forward.crash_seed, 0, kMostSeed));
  }
  return forward;
}

Result<RecoveryRequest> recovery_request(const Json& request) {
  RecoveryRequest recovery;
  READ(recovery.scheme, text(request, "scheme", "clr-p"));
  if (recovery.scheme != "clr" && recovery.scheme != "clr-p")
    return invalid_argument("the laboratory recovers by clr and by clr-p, not by {}", recovery.scheme);
  std::string level;
  READ(level, text(request, "level", "pipelined"));
  READ(recovery.level, replay_level(level));
  READ(recovery.threads, number(request, "threads", recovery.threads, 1, 16));
  READ(recovery.lanes, number(request, "lanes", recovery.lanes, 1, 16));
  READ(recovery.batch, number(request, "batch", recovery.batch, 1, 1000));
  READ(recovery.seed, number(request, "seed", recovery.seed, 0, kMostSeed));
  return recovery;
}

Json judge(const ForwardRun& forward, const Json& recovery) {
  const uint64_t end = recovery["log"]["end"];
  Json kept = Json::array();
  Json lost = Json::array();
  for (const auto& [lsn, statement] : forward.acknowledged) (lsn < end ? kept : lost).push_back(statement);
  // The rows behind the last record that lies before the log's end.
  const std::string* then = nullptr;
  for (const auto& [lsn, digest] : forward.digests) {
    if (lsn < end) then = &digest;
  }
  const std::string digest = recovery["digest"];
  return {{"recovered_upto", end},
          {"kept", std::move(kept)},
          {"lost", std::move(lost)},
          {"rows_are_as_they_were", then != nullptr && *then == digest},
          {"agrees", recovery["recover_digest"] == digest}};
}

Result<Json> answer_to(std::string_view text, const std::string& folder) {
  if (text.size() > kMostRequestBytes)
    return invalid_argument("the request has more than {} bytes", kMostRequestBytes);
  const Json request = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object()) return invalid_argument("the request is no JSON object");
  Result<ForwardRequest> forward = forward_request(request);
  if (!forward) return forward.error();
  const std::string crashed = folder + "/crashed";
  Result<ForwardRun> run = run_forward(*forward, folder + "/data", crashed);
  if (!run) return run.error();
  Json answer = {{"forward", std::move(run->report)}};
  const bool recovers =
      forward->crash_behind && request.contains("recovery") && request["recovery"].is_object();
  if (!recovers) return answer;
  const Result<RecoveryRequest> recovery = recovery_request(request["recovery"]);
  if (!recovery) return recovery.error();
  Result<Json> recovered = run_recovery(*recovery, crashed);
  if (!recovered) return recovered.error();
  answer["verdict"] = judge(*run, *recovered);
  answer["recovery"] = std::move(*recovered);
  return answer;
}

}  // namespace

std::string answer(std::string_view request, const std::string& folder) {
  Result<Json> answered = answer_to(request, folder);
  const Json shown = answered.ok() ? std::move(*answered) : Json{{"error", answered.error().message}};
  return shown.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mneme::lab
