#include "cli/lab/laboratory_server.h"

#include <civetweb.h>
#include <fmt/format.h>

#include <cstring>

#include "cli/lab/answering_process.h"
#include "lab/laboratory.h"

namespace mneme {
namespace {

constexpr const char* kAnsweringThreads = "4";
constexpr const char* kLongestPauseMs = "10000";  // of a client's, within a request

// The page is whole: nothing in it comes from elsewhere, and it asks this server alone.
constexpr std::string_view kSecurity =
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n";

int send(mg_connection* connection, int status, const char* reason, std::string_view kind,
         std::string_view text) {
  const std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "{}Connection: close\r\n\r\n",
      status, reason, kind, text.size(), kSecurity);
  mg_write(connection, head.data(), head.size());
  mg_write(connection, text.data(), text.size());
  return status;
}

int refuse(mg_connection* connection, int status, const char* reason, std::string_view sentence) {
  return send(connection, status, reason, "text/plain", sentence);
}

}  // namespace

Result<std::unique_ptr<LaboratoryServer>> LaboratoryServer::start(uint16_t port, std::string_view page,
                                                                  std::chrono::milliseconds longest) {
  std::unique_ptr<LaboratoryServer> server(new LaboratoryServer(page, longest));
  const std::string place = fmt::format("127.0.0.1:{}", port);
  const char* options[] = {"listening_ports",
                           place.c_str(),
                           "num_threads",
                           kAnsweringThreads,
                           "request_timeout_ms",
                           kLongestPauseMs,
                           "enable_keep_alive",
                           "no",
                           nullptr};
  const mg_callbacks none{};
  mg_init_library(0);
  server->context_ = mg_start(&none, nullptr, options);
  if (server->context_ == nullptr) {
    mg_exit_library();
    return failed(
        "nothing can be served on {}: the port is taken, or not this user's; name another one by --port, or "
        "0 "
        "for a free one",
        place);
  }
  mg_server_port bound{};
  CHECK(mg_get_server_ports(server->context_, 1, &bound) == 1);
  server->port_ = static_cast<uint16_t>(bound.port);
  mg_set_request_handler(server->context_, "/", handle, server.get());
  return server;
}

LaboratoryServer::~LaboratoryServer() {
  if (context_ == nullptr) return;
  mg_stop(context_);
  mg_exit_library();
}

std::string LaboratoryServer::address() const {
  return fmt::format("http://127.0.0.1:{}/", port_);
}

int LaboratoryServer::handle(mg_connection* connection, void* server) {
  return static_cast<LaboratoryServer*>(server)->serve(connection);
}

bool LaboratoryServer::is_ours(const char* host) const {
  return host != nullptr &&
         (host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_));
}

int LaboratoryServer::serve(mg_connection* connection) {
  constexpr std::string_view kScheme = "http://";
  const char* const origin = mg_get_header(connection, "Origin");
  const bool has_other_origin = origin != nullptr && (!std::string_view(origin).starts_with(kScheme) ||
                                                      !is_ours(origin + kScheme.size()));
  if (!is_ours(mg_get_header(connection, "Host")) || has_other_origin)
    return refuse(connection, 403, "Forbidden", "the laboratory answers its own page alone\n");
  const mg_request_info& request = *mg_get_request_info(connection);
  const std::string_view path = request.local_uri == nullptr ? "" : request.local_uri;
  const std::string_view method = request.request_method;
  if (path == "/" && (method == "GET" || method == "HEAD"))
    return send(connection, 200, "OK", "text/html", page_);
  if (path == "/answer" && method == "POST") return serve_answer(connection);
  return refuse(connection, 404, "Not Found", "the laboratory is at /\n");
}

int LaboratoryServer::serve_answer(mg_connection* connection) {
  const long long length = mg_get_request_info(connection)->content_length;
  if (length < 0) return refuse(connection, 411, "Length Required", "a request must say how long it is\n");
  if (static_cast<unsigned long long>(length) > lab::kMostRequestBytes) {
    return refuse(connection, 413, "Payload Too Large",
                  fmt::format("a request has at most {} bytes\n", lab::kMostRequestBytes));
  }
  std::string request(static_cast<size_t>(length), '\0');
  for (size_t read = 0; read < request.size();) {
    const int bytes = mg_read(connection, request.data() + read, request.size() - read);
    if (bytes <= 0) return refuse(connection, 400, "Bad Request", "the request has ended early\n");
    read += static_cast<size_t>(bytes);
  }
  const Result<std::string> answer = answer_apart(request, longest_);
  if (!answer) return refuse(connection, 500, "Internal Server Error", answer.error().message + "\n");
  answers_.fetch_add(1, std::memory_order_relaxed);
  return send(connection, 200, "OK", "application/json", *answer);
}

}  // namespace mneme
