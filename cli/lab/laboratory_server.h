// LaboratoryServer: the laboratory in a browser, answered by the native engine: its page, and POST /answer,
// which takes a request of lab/laboratory.h and gives its answer.
//
// Access      the loopback interface alone. A request whose Host or Origin is not this server's is refused,
//             so that no other site's page, whatever name it gives this machine, can ask.
// Bounds      a request has kMostRequestBytes at most; each is answered in a process of its own
//             (answering_process.h), which is stopped after `longest`; four at a time.
// Threads     the library's ask for answers; start() and the end are the owner's.
// Source      CivetWeb serves HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct mg_connection;
struct mg_context;

namespace mneme {

class LaboratoryServer {
 public:
  // `port` 0: one that is free. `page`: the document, which must outlive the server.
  static Result<std::unique_ptr<LaboratoryServer>> start(uint16_t port, std::string_view page,
                                                         std::chrono::milliseconds longest);
  ~LaboratoryServer();
  LaboratoryServer(const LaboratoryServer&) = delete;
  LaboratoryServer& operator=(const LaboratoryServer&) = delete;

  std::string address() const;  // http://127.0.0.1:8080/
  uint64_t answers() const { return answers_.load(std::memory_order_relaxed); }

 private:
  LaboratoryServer(std::string_view page, std::chrono::milliseconds longest)
      : page_(page), longest_(longest) {}

  static int handle(mg_connection* connection, void* server);
  int serve(mg_connection* connection);
  int serve_answer(mg_connection* connection);
  // The name and port of the request's own address, or of the page that asks, are this server's.
  bool is_ours(const char* host) const;

  const std::string_view page_;
  const std::chrono::milliseconds longest_;
  uint16_t port_ = 0;
  // The library's threads add, the owner reads. It orders nothing: relaxed.
  std::atomic<uint64_t> answers_{0};
  mg_context* context_ = nullptr;
};

}  // namespace mneme
