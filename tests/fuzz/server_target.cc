// A client's bytes to a server: any bytes, in any pieces, are answered by whole messages, or end the
// connection; and its seat comes back.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "server/session/client_session.h"
#include "server/testing/frontend.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

// So many inputs may leave tables and rows behind for the next ones.
constexpr int kInputsADatabase = 200;
constexpr int kMostSteps = 10'000;

class Host final : public SessionHost {
 public:
  Host() {
    const std::string directory = scratch_folder() + "/server";
    std::filesystem::remove_all(directory);
    database_ = *EmbeddedDatabase::open(directory, {.connections = 1, .execution = Execution::kInterpreted});
    seat_ = std::make_unique<Connection>(*database_->connect());
    seat_->run(
        "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(10), price NUMERIC(8,2) NOT NULL DEFAULT 1)");
    seat_->run("INSERT INTO item VALUES (1, 'one', 1), (2, NULL, 2)");
  }
  std::unique_ptr<Connection> take_seat() override { return std::move(seat_); }
  void give_back(std::unique_ptr<Connection> seat) override { seat_ = std::move(seat); }
  void cancel(uint32_t, uint32_t) override {}
  bool is_standby() const override { return false; }
  Lsn durable() const override { return database_->working().log().durable(); }
  bool has_seat() const { return seat_ != nullptr; }

 private:
  std::unique_ptr<EmbeddedDatabase> database_;
  std::unique_ptr<Connection> seat_;
};

// u8 how many bytes come at a time, then the client's bytes behind its startup packet.
void hold_client(ByteSpan input) {
  static std::unique_ptr<Host> host;
  static int inputs = 0;
  if (inputs++ % kInputsADatabase == 0) {
    host.reset();
    host = std::make_unique<Host>();
  }
  if (input.empty()) return;
  const size_t at_a_time = std::max<size_t>(static_cast<uint8_t>(input[0]), 1);
  {
    ClientSession session(*host, 1, 2);
    session.receive(Frontend().startup().take());
    Replies replies;
    ByteSpan rest = input.subspan(1);
    for (int steps = 0; steps < kMostSteps; ++steps) {
      const ClientSession::Step step = session.advance(ClientSession::Waiting::kAllowed);
      const std::vector<std::byte> told = session.replies().take(Lsn{UINT64_MAX});
      replies.add(told);
      replies.take();
      if (step == ClientSession::Step::kEnds || (step == ClientSession::Step::kWaits && rest.empty())) break;
      if (step != ClientSession::Step::kWaits) continue;
      const ByteSpan piece = rest.first(std::min(at_a_time, rest.size()));
      session.receive(piece);
      rest = rest.subspan(piece.size());
    }
    CHECK(replies.is_whole());
  }
  CHECK(host->has_seat());
}

std::vector<Bytes> client_seeds() {
  const auto seed = [](Frontend& messages) {
    Bytes bytes = messages.take();
    bytes.insert(bytes.begin(), std::byte{200});
    return bytes;
  };
  return {
      seed(Frontend().query("SELECT id, name FROM item; BEGIN; DELETE FROM item WHERE id = 1; ROLLBACK")),
      seed(Frontend()
               .parse("INSERT INTO item VALUES ($1, $2, $3)", "add", {23, 0, 1700})
               .describe('S', "add")
               .bind({"3", std::nullopt, "1.250"}, "add")
               .execute()
               .close('S', "add")
               .sync()),
      seed(Frontend()
               .parse("SELECT price FROM item WHERE id = ANY ($1)")
               .bind({"{1,2}"}, "", "", true)
               .describe('P')
               .execute(1)
               .sync()),
      seed(Frontend()
               .query("COPY item (id, name) FROM STDIN (FORMAT csv)")
               .copy_data("7,\"a\"\"b\"\n8,")
               .copy_data("\n")
               .bare('c')),
      seed(Frontend().query("COPY item TO STDOUT; SHOW ALL; SET application_name = 'x'; RESET ALL")),
      seed(Frontend()
               .query("CREATE TABLE IF NOT EXISTS t (n INT); TRUNCATE t; DROP TABLE t")
               .bare('H')
               .bare('X')),
  };
}

}  // namespace

const Target kServerClientTarget{.name = "server_client", .hold = hold_client, .seeds = client_seeds};

}  // namespace mneme::fuzz
