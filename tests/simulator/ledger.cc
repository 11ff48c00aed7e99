#include "tests/simulator/ledger.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "engine/transaction/unlogged_writer.h"

namespace mneme::simulator {

namespace {

// ledger_model.cc does the same.
constexpr std::string_view kSql = R"(
CREATE TABLE account (
    a_id INT NOT NULL,
    a_balance BIGINT NOT NULL,
    a_entries INT NOT NULL,
    a_friend INT NOT NULL,
    PRIMARY KEY (a_id)
);
CREATE INDEX account_by_friend ON account (a_friend, a_balance);
CREATE TABLE entry (
    e_account INT NOT NULL,
    e_number INT NOT NULL,
    e_amount BIGINT NOT NULL,
    e_note VARCHAR(60),
    PRIMARY KEY (e_account, e_number)
);
CREATE INDEX entry_by_amount ON entry (e_amount);
CREATE TABLE total (
    t_id INT NOT NULL,
    t_amount BIGINT NOT NULL,
    t_calls INT NOT NULL,
    PRIMARY KEY (t_id)
);

CREATE PROCEDURE deposit(p_account INT, p_amount BIGINT, p_note VARCHAR(60), INOUT r_balance BIGINT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_balance BIGINT;
    v_entries INT;
BEGIN
    SELECT a_balance, a_entries INTO v_balance, v_entries FROM account WHERE a_id = p_account;
    UPDATE account SET a_balance = v_balance + p_amount, a_entries = v_entries + 1 WHERE a_id = p_account;
    INSERT INTO entry (e_account, e_number, e_amount, e_note) VALUES (p_account, v_entries, p_amount, p_note);
    UPDATE total SET t_amount = t_amount + p_amount, t_calls = t_calls + 1 WHERE t_id = 1;
    r_balance := v_balance + p_amount;
END;
$$;

CREATE PROCEDURE pay(p_from INT, p_to INT, p_amount BIGINT, INOUT r_left BIGINT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_balance BIGINT;
BEGIN
    SELECT a_balance INTO v_balance FROM account WHERE a_id = p_from;
    IF v_balance < p_amount THEN
        RAISE EXCEPTION 'account % has % alone', p_from, v_balance;
    END IF;
    UPDATE account SET a_balance = a_balance - p_amount WHERE a_id = p_from;
    UPDATE account SET a_balance = a_balance + p_amount WHERE a_id = p_to;
    r_left := v_balance - p_amount;
END;
$$;

CREATE PROCEDURE pay_friend(p_from INT, p_amount BIGINT, INOUT r_friend INT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_friend INT;
BEGIN
    SELECT a_friend INTO v_friend FROM account WHERE a_id = p_from;
    UPDATE account SET a_balance = a_balance - p_amount WHERE a_id = p_from;
    UPDATE account SET a_balance = a_balance + p_amount WHERE a_id = v_friend;
    r_friend := v_friend;
END;
$$;

CREATE PROCEDURE befriend(p_account INT, p_friend INT)
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE account SET a_friend = p_friend WHERE a_id = p_account;
END;
$$;

CREATE PROCEDURE forget(p_account INT, p_kept INT, INOUT r_amount BIGINT)
LANGUAGE plpgsql
AS $$
DECLARE
    v_entries INT;
BEGIN
    SELECT a_entries INTO v_entries FROM account WHERE a_id = p_account;
    SELECT SUM(e_amount) INTO r_amount FROM entry WHERE e_account = p_account AND e_number < v_entries - p_kept;
    DELETE FROM entry WHERE e_account = p_account AND e_number < v_entries - p_kept;
END;
$$;

CREATE PROCEDURE look(p_account INT, INOUT r_balance BIGINT, INOUT r_entries BIGINT)
LANGUAGE plpgsql
AS $$
BEGIN
    SELECT a_balance INTO r_balance FROM account WHERE a_id = p_account;
    SELECT COUNT(*) INTO r_entries FROM entry WHERE e_account = p_account;
END;
$$;
)";

}  // namespace

std::unique_ptr<Program> ledger_program() {
  auto program = compile(std::string(kSql), "ledger.sql");
  if (!program.ok()) fmt::print(stderr, "{}\n", program.error().message);
  CHECK(program.ok());
  return std::move(*program);
}

Result<void> load_ledger(Database& database) {
  UnloggedWriter writer(database);
  for (int64_t id = 0; id < kAccounts; ++id) {
    const std::array<Value, 4> row{Value::of_int(id), Value::of_int(1000), Value::of_int(0),
                                   Value::of_int((id + 1) % kAccounts)};
    CHECK(writer.insert(TableId(0), row) == AccessStatus::kOk);
  }
  const std::array<Value, 3> total{Value::of_int(1), Value::of_int(0), Value::of_int(0)};
  CHECK(writer.insert(TableId(2), total) == AccessStatus::kOk);
  return {};
}

const Call& LedgerCalls::next() {
  const int64_t account = draw(kAccounts);
  switch (draw(10)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      builder_.start(ProcedureId(0)).integer(account).integer(1 + draw(500));
      constexpr std::string_view kNote = "what a teller would write who has the time for more than a word";
      if (const int64_t length = draw(40); length == 0) {
        builder_.null();
      } else {
        builder_.text(kNote.substr(0, static_cast<size_t>(length)));
      }
      return builder_.results(1).call();
    }
    case 4:
    case 5:
      return builder_.start(ProcedureId(1))
          .integer(account)
          .integer(draw(kAccounts))
          .integer(draw(1500))
          .results(1)
          .call();
    case 6:
      return builder_.start(ProcedureId(2)).integer(account).integer(draw(100)).results(1).call();
    case 7:
      return builder_.start(ProcedureId(3)).integer(account).integer(draw(kAccounts)).call();
    case 8:
      return builder_.start(ProcedureId(4)).integer(account).integer(draw(3)).results(1).call();
    default:
      return builder_.start(ProcedureId(5)).integer(account).results(2).call();
  }
}

}  // namespace mneme::simulator
