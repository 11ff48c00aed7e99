// ClientSession: one client's conversation in PostgreSQL's protocol: its messages in, replies out.
//
// Flow        receive() -> advance(), as long as that asks for it -> replies(), which leave once they are
//             durable
//             advance(): startup -> messages: a Query, or Parse, Bind, Describe, Execute ... up to Sync ->
//             statements -> the seat's LiveSession -> rows and tags
// Statements  a CALL, or a statement by itself, is a transaction of its own. Several in one Query, or between
//             two Syncs, are one, unless they have BEGIN and COMMIT of their own: an implicit block, as in
//             PostgreSQL. A change of the schema is a transaction by itself in either case, and ends the
//             implicit block before it.
// Invariants  messages are handled in their order, and a request's once its last one is there (frames.h).
//             After an error everything up to the next Sync is skipped. Nothing that the client learns can be
//             taken back by a crash (reply_queue.h). It keeps its seat while a block is open, and else only
//             inside advance().
// Standby     while the host is one every transaction is read-only. mneme.wait_for_lsn keeps a statement
//             until so much of the log is in the rows.
// Stopping    a statement fails with 57014 where its client cancels it (StopRequest), or where it has taken
//             longer than statement_timeout. Its request is then over, as after any error.
// Threads     one at a time, which may be another each time.
// Waiting     advance(kNever): for nothing; what could take long it leaves to advance(kAllowed).
// Errors      of the client's: ErrorResponse. Of the protocol: FATAL, and the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/memory/arena.h"
#include "procedures/values/stop_request.h"
#include "server/protocol/backend_messages.h"
#include "server/protocol/frames.h"
#include "server/session/client_activity.h"
#include "server/session/client_statement.h"
#include "server/session/copy_text.h"
#include "server/session/notifications.h"
#include "server/session/reply_queue.h"
#include "server/session/session_host.h"
#include "server/session/settings.h"

namespace mneme {

// How a client's connection came about, as far as its session asks.
struct ClientLink {
  std::string refusal{};    // not empty: why the server takes no more clients
  bool offers_tls = false;  // an SSLRequest is granted
  bool needs_tls = false;   // a startup packet in the clear is refused
  std::string peer{};       // the client's address, for that refusal: "at 10.0.0.7:40312"
  std::string end_point{};  // of the certificate (TlsCertificate); empty: passwords are not tied to it
  std::shared_ptr<StopRequest> stop{};         // of the session's statements; nullptr: the session makes one
  std::shared_ptr<ClientActivity> activity{};  // likewise
};

class ClientSession {
 public:
  ClientSession(SessionHost& host, uint32_t id, uint32_t secret, ClientLink link = {});
  ~ClientSession();
  ClientSession(const ClientSession&) = delete;
  ClientSession& operator=(const ClientSession&) = delete;

  void receive(ByteSpan bytes) { frames_.receive(bytes); }

  // What has arrived and was not handled yet.
  size_t waiting_bytes() const { return frames_.waiting_bytes(); }

  enum class Step : uint8_t {
    kWaits,  // for the client
    kRetry,  // for a seat, or for a change of the schema: call again soon
    kWork,   // what comes next may take long: advance(kAllowed), on a thread that has time
    kTls,    // send the replies in the clear; all that follows, both ways, is TLS. Then go on
    kEnds,   // close the connection once the replies have left
  };
  enum class Waiting : uint8_t { kNever, kAllowed };
  Step advance(Waiting waiting);

  ReplyQueue& replies() { return replies_; }
  // Puts into the replies what others have notified the session of, if it is between two requests and outside
  // of a block. Returns whether there was something.
  bool deliver_if_idle() { return is_idle_ && !in_block() && deliver_notifications(); }
  // The connection ends for a reason that is not the client's: it is told, and its block is rolled back.
  void end(std::string_view sqlstate, std::string_view message);
  // Any thread: the statement that runs, or waits, is to fail, and no other is to begin. end() follows,
  // unless the client is gone.
  void stop() { stop_->end_connection(); }

  uint32_t id() const { return id_; }
  bool has_started() const { return stage_ == Stage::kOpen; }
  bool in_block() const { return seat_.block() != SqlSession::Block::kNone; }
  // How long a block may be idle, in milliseconds; 0: for ever.
  uint64_t idle_in_block_ms() const { return settings_.milliseconds("idle_in_transaction_session_timeout"); }

 private:
  static constexpr uint32_t kConflictsUntilAlone = 8;
  enum class Stage : uint8_t { kStartup, kAuthentication, kOpen, kEnded };

  // A statement that Parse has named.
  struct Named {
    ClientStatement statement;
    std::unique_ptr<PreparedStatement> prepared;  // of SQL
    std::vector<ResultColumn> columns;            // of what is not SQL
    bool may_notify = false;                      // by pg_notify(), which it names
  };
  struct Portal {
    std::shared_ptr<Named> named;
    Arena arena{512};  // of the parameters
    std::vector<Argument> parameters;
    std::vector<uint8_t> scales;
    std::vector<ValueFormat> formats;
    bool has_run = false;
    std::string tag;
    std::vector<std::byte> rows;  // that a limited Execute has left
    size_t at = 0;
  };
  struct Cursor;
  struct Query {
    struct Part {
      std::string text;
      size_t offset = 0;  // in the query's text, in characters
      std::shared_ptr<Named> named{};
    };
    explicit Query(std::vector<Part> statements) : parts(std::move(statements)) {}

    std::vector<Part> parts;
    size_t next = 0;
  };
  struct CopyIn {
    CopyStatement statement;
    CopyReader reader;
    std::unique_ptr<PreparedStatement> insert;
    size_t width;
    std::vector<std::string> column_names;
    // Rows of a table that refers to itself, which refer to rows that are not there yet.
    struct WaitingRow {
      std::vector<std::optional<std::string>> fields;
      size_t line;
    };
    std::vector<WaitingRow> waiting = {};
    size_t waiting_bytes = 0;
    // The values of the row that is being inserted, and their memory.
    std::unique_ptr<Arena> arena = std::make_unique<Arena>(4096);
    std::vector<Argument> values = {};
    std::vector<uint8_t> scales = {};
    bool may_wait = false;
    std::optional<size_t> line = {};  // of the waiting row that is being inserted
    uint64_t rows = 0;
    size_t rows_in_batch = 0;
    size_t batch_bytes = 0;
    bool opens_block = false;    // there is none: it is a transaction by itself, or several
    bool batches = false;        // rows are committed in batches, as the transaction has read none
    bool has_committed = false;  // one
    bool is_extended = false;
    std::optional<Lsn> lsn{};
  };

  // What became of a message, a statement.
  enum class Done : uint8_t { kYes, kFailed, kRetry, kWork };
  // A result, or, with kRetry and kWork, none.
  struct Ran {
    Done done = Done::kYes;
    StatementResult result{};
  };

  MessageWriter out() { return replies_.writer(); }
  Step start_session(ByteSpan body);
  Step answer_encryption_request(bool asks_for_tls);
  Step authenticate(const ClientMessage& message);
  // Tells the client that it is who it says, and all that it wants to know first.
  void admit();
  // The statements of a client's text.
  static std::vector<Query::Part> split(std::string_view text);
  Step refuse(std::string_view sqlstate, std::string_view message);
  Done handle(const ClientMessage& frame);

  Done run_query();
  // Whether the statement is one; otherwise it is reported.
  bool read_part(Query::Part& part);
  // All are read before the first runs: where one of them is none, none runs.
  bool read_parts();
  Done run_part(Query::Part& part);
  void end_query();

  Done parse(ByteSpan body);
  Done bind(ByteSpan body);
  Done describe(ByteSpan body);
  Done execute(ByteSpan body);
  Done run_portal(Portal& portal);
  void hand_out(Portal& portal, int32_t most);
  Done close(ByteSpan body);
  Done sync();
  Done protocol_error(std::string_view message);
  // A result that the server doesn't keep for its client.
  StatementResult too_large();

  Result<std::shared_ptr<Named>> name_statement(std::string_view text, std::vector<Type> given,
                                                StatementResult& failure);
  // Binds an SQL statement, so that its types and columns are known.
  Ran prepare(Named& named);
  std::span<const ResultColumn> columns_of(const Named& named) const;
  bool gives_rows(const Named& named) const;
  std::span<const Type> parameters_of(const Named& named) const;

  // `alone`: it is all of its request, so it may be a transaction by itself.
  Ran run(Named& named, std::span<const Argument> parameters, std::span<const uint8_t> scales,
          ResultSink& rows, bool alone);
  // `explain`: its plan is shown instead of its rows.
  Ran run_sql(Named& named, std::span<const Argument> parameters, std::span<const uint8_t> scales,
              ResultSink& rows, bool alone, const std::optional<ExplainOptions>& explain = {});
  // `read_only`: what BEGIN says of the block, or nothing.
  // Whether the database becomes a primary's or a standby's is known to the client's settings from here on.
  void follow_standby();
  // Whether the client wants to wait for the log, and it has not got there.
  bool waits_for_log() const;
  Ran control(const syntax::Command& command, std::optional<bool> read_only = std::nullopt);
  Ran change_schema(const ClientStatement& statement);
  Ran explain(Named& named, const ExplainOptions& options, std::span<const Argument> parameters,
              std::span<const uint8_t> scales, ResultSink& rows);
  static const std::vector<ResultColumn>& explained_columns();
  // Runs a query that the session itself has written.
  Ran run_own_query(const std::string& query, ResultSink& rows, bool alone);
  Ran lock_tables(const LockStatement& lock, bool alone);
  // Takes or gives up advisory locks.
  Ran run_advisory(Named& named, const AdvisoryStatement& statement, std::span<const Argument> parameters,
                   std::span<const uint8_t> scales, ResultSink& rows, bool alone);
  Ran run_notify(const NotifyStatement& statement, bool alone);
  void wish_to_notify(NotifyMessage message);
  Notifications::Turn take_turn_to_notify();
  StatementResult no_room_to_notify();
  // What the transaction has asked for takes effect, as it is committed.
  void send_notifications(const Notifications::Turn& turn, std::optional<Lsn> lsn);
  void forget_notifications() { notices_ = {}; }
  void cut_notifications(size_t messages, size_t listens);
  StatementResult grant_notifications(const Named& named, StatementResult result);
  bool deliver_notifications();
  Ran set_constraints(const ConstraintsStatement& statement, bool alone);
  Ran prepare_named(const PrepareStatement& statement);
  Ran execute_named(const ExecuteStatement& statement, ResultSink& rows, bool alone);
  Ran declare(Named& named, const CursorStatement& statement, std::span<const Argument> parameters,
              std::span<const uint8_t> scales, bool alone);
  StatementResult fetch(const CursorStatement& statement, ResultSink& rows);
  StatementResult close_cursor(const CursorStatement& statement);
  void end_cursors(bool is_committed);
  // A cursor is a portal, too, to Describe, Execute and Close.
  std::optional<std::span<const ResultColumn>> columns_of_cursor(std::string_view name) const;
  Done execute_cursor(std::string_view name, int32_t most);
  // Learns the columns of EXECUTE and FETCH, which are another statement's.
  Ran learn_columns(Named& named);
  // By the routine in PostgreSQL that says so, pgjdbc knows that it is to prepare the statement again.
  static constexpr std::string_view kChangedResult = "cached plan must not change result type";
  // Learns them again, and refuses columns that differ from those that the client was told.
  Ran learn_same_columns(Named& named);
  void follow_savepoint(const syntax::Command& command);
  StatementResult run_set(const SetStatement& statement, ResultSink& rows);
  // Lets pg_stat_activity have what all sessions do now, if the statement shows it, by its name or out of a
  // view.
  void share_activities(const Named& named);
  // Makes the settings known to the functions and tables that tell of them.
  void share_settings();
  // What set_config() has asked for in the statement: each is set behind it, and fails it if it can't be.
  static void forget_wishes(const Named& named);
  static std::vector<SystemCatalog::Wish> wishes_of(const Named& named);
  StatementResult grant_wishes(const Named& named, StatementResult result);
  StatementResult discard(const DiscardStatement& statement);
  Ran begin_implicit_block();
  // Ends it: the statements in it are committed.
  Ran end_implicit_block();
  void after_block(bool is_committed);

  Ran begin_copy_in(const CopyStatement& statement, bool is_extended);
  Ran copy_out(const CopyStatement& statement);
  Ran choose_columns(CopyStatement& statement);
  Done copy_data(ByteSpan bytes);
  Done end_copy();
  Done copy_rows();
  Done copy_row(std::span<const std::optional<std::string_view>> fields);
  StatementResult insert_copied(std::span<const Argument> values, std::span<const uint8_t> scales,
                                bool& waits);
  Done copy_waiting_rows();
  Done commit_copy_batch();
  bool begin_copy_batch();
  Done fail_copy(const StatementResult& failure);

  // Reports a failure; `offset` (in characters), `text`: of the statement in the query that the client sent.
  void report(const StatementResult& failure, std::string_view text = {}, size_t offset = 0);
  void report_notices(const StatementResult& result);
  void report_settings();
  void write_ready(char state);
  char state() const;
  // Sets the deadline of the statement that begins, which has met no conflict.
  void begin_statement();
  bool is_asked_to_stop() const { return stop_->reason() != StopRequest::Reason::kNone; }
  // Returns what the statement that is asked to stop fails with.
  StatementResult stopped() const;

  SessionHost& host_;
  const uint32_t id_;
  const uint32_t secret_;
  const ClientLink link_;
  Stage stage_ = Stage::kStartup;
  Waiting waiting_ = Waiting::kNever;  // of the advance() that runs
  FrameReader frames_;
  ReplyQueue replies_;
  Settings settings_;
  std::shared_ptr<SessionValues> values_ = std::make_shared<SessionValues>();  // what functions say of it
  std::string user_;
  std::vector<std::string> unknown_options_;  // of the protocol, that the client asked for
  bool is_newer_protocol_ = false;            // than 3.0
  std::optional<ScramServer> scram_;          // while the client is asked
  bool has_answered_ = false;                 // once
  bool is_enciphered_ = false;                // all that arrives, since kTls
  bool has_asked_for_tls_ = false;            // each may be asked for once
  bool has_asked_for_gss_ = false;
  Seat seat_;
  bool is_implicit_ = false;  // the block that is open
  bool skips_to_sync_ = false;
  const std::shared_ptr<StopRequest> stop_;
  const std::shared_ptr<ClientActivity> activity_;
  bool is_tried_again_ = false;  // the message or statement at hand, which had to wait
  uint32_t conflicts_ = 0;       // how often it has given up, outside of a block
  // At so many conflicts the others wait while it runs alone, because what reads much meets a conflict at
  // every try beside them. If blocks are in its way it tries as often as before until the next time.
  uint32_t alone_at_conflicts_ = kConflictsUntilAlone;
  uint64_t next_attempt_ns_ = 0;  // not before
  std::optional<Query> query_;
  std::optional<CopyIn> copy_in_;
  std::map<std::string, std::shared_ptr<Named>, std::less<>> statements_;
  std::map<std::string, std::shared_ptr<Portal>, std::less<>> portals_;
  std::map<std::string, std::shared_ptr<Cursor>, std::less<>> cursors_;
  uint64_t declared_cursors_ = 0;
  struct BlockSavepoint {
    std::string name;
    uint64_t cursors;  // that had been declared
    size_t messages;   // of notices_
    size_t listens;
  };
  std::vector<BlockSavepoint> savepoints_;  // of the block
  // What the transaction asks for that takes effect with its commit.
  struct Notices {
    std::vector<NotifyMessage> messages;
    std::set<NotifyMessage> known;  // the same
    std::vector<NotifyStatement> listens;
  };
  Notices notices_;
  std::shared_ptr<Notifications::Box> box_;  // once it has listened
  bool is_idle_ = false;                     // since ReadyForQuery
};

}  // namespace mneme
