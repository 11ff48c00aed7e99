// The laboratory: a lesson in one request: work, a crash, a recovery. A page runs it in a browser, as a
// module of WebAssembly; the program mneme_lab runs it natively. Both give the same answer to the same
// request, byte for byte, unless a call depends on the time.
//
// Request     {"setup": SQL, "calls": SQL, "group", "segment_blocks", "disk_seed",
//              "crash": {"behind", "seed"} or null,
//              "recovery": {"scheme", "level", "threads", "lanes", "batch", "seed"} or null}
//             What is left out is as ForwardRequest and RecoveryRequest have it. Without a crash there is no
//             recovery.
// Answer      {"forward": forward_run.h, "recovery": recovery_run.h, "verdict"}, or {"error": SENTENCE}
// Verdict     {"recovered_upto", "kept": [STATEMENT...], "lost": [STATEMENT...], "rows_are_as_they_were",
//              "agrees"}: which of the acknowledged statements the recovered log has, whether the rows are
//             those behind its last record, and whether recover() agrees.
// Limits      a request of more than kMostRequestBytes, or that asks for more of something than there is, is
//             refused.
// Threads     one.
#pragma once

#include <string>
#include <string_view>

namespace mneme::lab {

inline constexpr size_t kMostRequestBytes = size_t{1} << 20;

// `folder`: empty, and the laboratory's own.
std::string answer(std::string_view request, const std::string& folder);

}  // namespace mneme::lab
