// A bank in a directory: each run makes a deposit, and prints the balance. Kill it at any moment: the printed
// balance stays.
#include <embedding/embedded_database.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  auto bank = mneme::EmbeddedDatabase::open(argc > 1 ? argv[1] : "bank-data");
  if (!bank.ok()) return std::fprintf(stderr, "bank: %s\n", bank.error().message.c_str()), 1;
  auto connection = (*bank)->connect();
  if (!connection.ok()) return std::fprintf(stderr, "bank: %s\n", connection.error().message.c_str()), 1;

  // In a database that was opened before, these fail, because what they create is there.
  connection->run("CREATE TABLE account (id INT PRIMARY KEY, balance NUMERIC(12,2) NOT NULL)");
  connection->run("INSERT INTO account VALUES (1, 0)");
  connection->run(
      "CREATE PROCEDURE deposit(p_id INT, p_amount NUMERIC(12,2), INOUT p_balance NUMERIC(12,2)) LANGUAGE "
      "plpgsql AS $$ BEGIN"
      "  UPDATE account SET balance = balance + p_amount WHERE id = p_id RETURNING balance INTO p_balance; "
      "END; $$");

  const auto account = mneme::Argument::of(mneme::Value::of_int(1));
  // 2.50: hundredths, by the parameter's scale
  const auto amount = mneme::Argument::of(mneme::Value::of_numeric(250));
  const mneme::CallResult result = connection->call("deposit", {account, amount});
  if (!result.committed()) return std::fprintf(stderr, "bank: %s\n", std::string(result.message).c_str()), 1;
  std::printf("%.2f\n", static_cast<double>(result.results[0].scalar.as_numeric()) / 100);
  // The procedure is compiled while its first calls are interpreted. Its machine code is kept in the data
  // directory, for the next run, if the compiler has ended before the program does.
  if (argc > 2 && std::strcmp(argv[2], "--compile") == 0) (*bank)->await_machine_code();
  return 0;
}
