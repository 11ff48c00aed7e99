import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.BatchUpdateException;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.util.Arrays;
import java.util.Properties;
import java.util.TreeSet;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.jdbc.PgConnection;
import org.postgresql.util.PSQLException;

/**
 * Drives the server that PGHOST, PGPORT, PGUSER and PGDATABASE name, through pgjdbc, and prints all that it is answered: the test holds
 * what it prints of Mneme against what it prints of PostgreSQL.
 *
 * <p>usage: javac -cp postgresql.jar -d FOLDER *.java; java -cp FOLDER:postgresql.jar JdbcClient [PART...]
 */
public class JdbcClient {
  interface Part {
    void run() throws Exception;
  }

  static final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
  static final String ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";

  static Connection connect(String... options) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", System.getenv("PGUSER"));
    for (int i = 0; i < options.length; i += 2) {
      properties.setProperty(options[i], options[i + 1]);
    }
    return DriverManager.getConnection(
        "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"), properties);
  }

  static void execute(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  static String text(Object value) throws SQLException {
    if (value == null) {
      return "null";
    }
    if (value instanceof Array) {
      return "array " + ((Array) value).getBaseTypeName() + text(((Array) value).getArray());
    }
    if (value instanceof Object[]) {
      return Arrays.deepToString((Object[]) value);
    }
    return value.getClass().getSimpleName() + ":" + value;
  }

  /** Prints the rows that are left, as objects. */
  static void rows(String title, ResultSet rows) throws SQLException {
    int width = rows.getMetaData().getColumnCount();
    while (rows.next()) {
      StringBuilder line = new StringBuilder(title);
      for (int i = 1; i <= width; ++i) {
        line.append(" | ").append(text(rows.getObject(i)));
      }
      out.println(line);
    }
    rows.close();
  }

  static void columns(String title, ResultSetMetaData columns) throws SQLException {
    for (int i = 1; i <= columns.getColumnCount(); ++i) {
      out.println(title + " column " + columns.getColumnLabel(i) + " " + columns.getColumnTypeName(i) + " " + columns.getColumnType(i)
          + " " + columns.getPrecision(i) + "," + columns.getScale(i) + " " + columns.getColumnDisplaySize(i) + " "
          + columns.getColumnClassName(i) + " of " + columns.getTableName(i) + " null " + columns.isNullable(i) + " serial "
          + columns.isAutoIncrement(i) + " signed " + columns.isSigned(i));
    }
  }

  /** Runs what may fail, and prints how. */
  static void attempt(String title, Part part) throws Exception {
    try {
      part.run();
      out.println(title + ": done");
    } catch (BatchUpdateException e) {
      out.println(title + ": batch " + Arrays.toString(e.getUpdateCounts()) + " " + e.getSQLState());
    } catch (PSQLException e) {
      String place = e.getServerErrorMessage() == null
          ? " of the driver: " + e.getMessage()
          : "";
      out.println(title + ": " + e.getSQLState() + place);
    }
  }

  static void statements() throws Exception {
    for (String mode : new String[] {"extended", "simple", "extendedForPrepared", "extendedCacheEverything"}) {
      try (Connection connection = connect("preferQueryMode", mode)) {
        execute(connection, "DROP TABLE IF EXISTS s", "CREATE TABLE s (id int PRIMARY KEY, name varchar(20), price numeric(8,2))");
        try (Statement statement = connection.createStatement()) {
          boolean has = statement.execute("INSERT INTO s VALUES (1, 'one', 1.5); SELECT * FROM s; UPDATE s SET name = 'uno'; SELECT name FROM s");
          while (has || statement.getUpdateCount() != -1) {
            if (has) {
              rows(mode + " several", statement.getResultSet());
            } else {
              out.println(mode + " several " + statement.getUpdateCount());
            }
            has = statement.getMoreResults();
          }
          out.println(mode + " empty " + statement.execute("") + " " + statement.getUpdateCount());
          out.println(mode + " comment " + statement.execute("-- nothing"));
          statement.setMaxRows(2);
          rows(mode + " at most two", statement.executeQuery("SELECT a FROM generate_series(1, 5) AS a"));
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO s (id, name, price) VALUES (?, ?, ?)")) {
          // The driver can't tell in its simple mode.
          ParameterMetaData parameters = mode.equals("simple") ? null : insert.getParameterMetaData();
          for (int i = 1; parameters != null && i <= parameters.getParameterCount(); ++i) {
            out.println(mode + " parameter " + parameters.getParameterTypeName(i) + " " + parameters.getParameterType(i));
          }
          insert.setInt(1, 2);
          insert.setObject(2, "two");
          insert.setObject(3, "2.25", Types.NUMERIC);
          out.println(mode + " inserted " + insert.executeUpdate());
        }
        try (PreparedStatement select = connection.prepareStatement(
                 "SELECT s.id + ? AS plus, upper(name) || ? AS text, price * 2, CASE WHEN id > ? THEN 'x' END FROM s WHERE name LIKE ? "
                     + "AND id IN (?, ?) ORDER BY id LIMIT ? OFFSET ?")) {
          select.setInt(1, 10);
          select.setString(2, "!");
          select.setLong(3, 1);
          select.setString(4, "%o");
          select.setInt(5, 1);
          select.setInt(6, 2);
          select.setInt(7, 10);
          select.setInt(8, 0);
          columns(mode, select.getMetaData());
          for (int run = 0; run < 6; ++run) {
            rows(mode + " select", select.executeQuery());
          }
        }
        // A statement's parameters change their type, and its table changes its columns.
        try (PreparedStatement select = connection.prepareStatement("SELECT * FROM s WHERE id = ?")) {
          for (int run = 0; run < 7; ++run) {
            if (run % 2 == 0) {
              select.setInt(1, 1);
            } else {
              select.setLong(1, 2);
            }
            rows(mode + " int or long", select.executeQuery());
          }
          execute(connection, "ALTER TABLE s ADD COLUMN more int");
          attempt(mode + " a column more", () -> rows(mode, select.executeQuery()));
          attempt(mode + " once more", () -> rows(mode, select.executeQuery()));
        }
        out.println(mode + " valid " + connection.isValid(5));
      }
    }
  }

  static void batches() throws Exception {
    for (String rewrite : new String[] {"false", "true"}) {
      try (Connection connection = connect("reWriteBatchedInserts", rewrite, "prepareThreshold", "1")) {
        execute(connection, "DROP TABLE IF EXISTS bt", "CREATE TABLE bt (id int PRIMARY KEY, name text, price numeric(8,2))");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO bt (id, name, price) VALUES (?, ?, ?)")) {
          for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 300; ++i) {
              insert.setInt(1, round * 300 + i);
              insert.setString(2, i % 7 == 0 ? null : "n" + i);
              insert.setBigDecimal(3, BigDecimal.valueOf(i, 2));
              insert.addBatch();
            }
            int[] counts = insert.executeBatch();
            out.println("batch of " + counts.length + " " + new TreeSet<>(Arrays.asList(Arrays.stream(counts).boxed().toArray(Integer[] ::new))));
          }
          insert.setInt(1, 2000);
          insert.setString(2, "x");
          insert.setBigDecimal(3, BigDecimal.ONE);
          insert.addBatch();
          insert.setInt(1, 5);
          insert.addBatch();
          insert.setInt(1, 2001);
          insert.addBatch();
          attempt("a key twice " + rewrite, () -> insert.executeBatch());
        }
        try (Statement statement = connection.createStatement()) {
          statement.addBatch("UPDATE bt SET name = 'changed' WHERE id < 10");
          statement.addBatch("DELETE FROM bt WHERE id >= 500");
          statement.addBatch("INSERT INTO bt VALUES (9999, 'last', 1)");
          out.println("statements " + Arrays.toString(statement.executeBatch()));
          rows("left", statement.executeQuery("SELECT count(*), sum(price), count(name), max(id) FROM bt"));
        }
        connection.setAutoCommit(false);
        try (PreparedStatement update = connection.prepareStatement("UPDATE bt SET price = price + ? WHERE id = ?")) {
          for (int i = 0; i < 20; ++i) {
            update.setBigDecimal(1, new BigDecimal("0.5"));
            update.setInt(2, i * 40);
            update.addBatch();
          }
          out.println("updates " + Arrays.toString(update.executeBatch()));
        }
        connection.commit();
        rows("sum", connection.createStatement().executeQuery("SELECT sum(price) FROM bt"));
        connection.commit();
      }
    }
  }

  static void transactions() throws Exception {
    try (Connection connection = connect("prepareThreshold", "1"); Connection other = connect()) {
      execute(connection, "DROP TABLE IF EXISTS tr", "CREATE TABLE tr (id int PRIMARY KEY, v int)");
      connection.setAutoCommit(false);
      for (int level : new int[] {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_READ_COMMITTED,
                                  Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) {
        connection.setTransactionIsolation(level);
        out.println("level " + connection.getTransactionIsolation());
        execute(connection, "INSERT INTO tr VALUES (" + level + ", 1)");
        rows("not there", other.createStatement().executeQuery("SELECT count(*) FROM tr WHERE id = " + level));
        connection.commit();
        rows("there", other.createStatement().executeQuery("SELECT count(*) FROM tr WHERE id = " + level));
      }
      execute(connection, "INSERT INTO tr VALUES (10, 1)");
      Savepoint first = connection.setSavepoint("Some point");
      execute(connection, "INSERT INTO tr VALUES (11, 1)");
      Savepoint second = connection.setSavepoint();
      attempt("key twice", () -> execute(connection, "INSERT INTO tr VALUES (10, 1)"));
      attempt("failed block", () -> execute(connection, "SELECT 1"));
      connection.rollback(second);
      execute(connection, "INSERT INTO tr VALUES (12, 1)");
      connection.releaseSavepoint(second);
      connection.rollback(first);
      execute(connection, "INSERT INTO tr VALUES (13, 1)");
      connection.commit();
      rows("behind savepoints", connection.createStatement().executeQuery("SELECT * FROM tr ORDER BY id"));
      connection.rollback();
      connection.setReadOnly(true);
      attempt("read only", () -> execute(connection, "DELETE FROM tr"));
      connection.rollback();
      out.println("is read only " + connection.isReadOnly());
      connection.setReadOnly(false);
      execute(connection, "DELETE FROM tr WHERE id > 10");
      connection.rollback();
      rows("rolled back", connection.createStatement().executeQuery("SELECT count(*) FROM tr"));
      connection.commit();
      // Errors inside of a block, each undone by a savepoint of the driver.
      try (Connection careful = connect("autosave", "always")) {
        careful.setAutoCommit(false);
        execute(careful, "INSERT INTO tr VALUES (20, 1)");
        attempt("autosave", () -> execute(careful, "INSERT INTO tr VALUES (20, 1)"));
        execute(careful, "INSERT INTO tr VALUES (21, 1)");
        careful.commit();
        rows("autosave", careful.createStatement().executeQuery("SELECT count(*) FROM tr WHERE id >= 20"));
      }
      // The commit of a block that failed.
      attempt("fails", () -> execute(connection, "INSERT INTO tr VALUES (20, 2)"));
      attempt("commit of a failed block", () -> connection.commit());
    }
  }

  static void keys() throws Exception {
    try (Connection connection = connect("prepareThreshold", "1")) {
      execute(connection, "DROP TABLE IF EXISTS k",
          "CREATE TABLE k (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name text, made int DEFAULT 7)");
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO k (name) VALUES (?)", Statement.RETURN_GENERATED_KEYS)) {
        for (int i = 0; i < 3; ++i) {
          insert.setString(1, "n" + i);
          insert.executeUpdate();
          rows("all columns", insert.getGeneratedKeys());
        }
      }
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO k (name) VALUES (?)", new String[] {"id", "made"})) {
        for (int i = 0; i < 4; ++i) {
          insert.setString(1, "b" + i);
          insert.addBatch();
        }
        out.println("batch " + Arrays.toString(insert.executeBatch()));
        rows("of the batch", insert.getGeneratedKeys());
      }
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("INSERT INTO k (name) VALUES ('x'), ('y')", new String[] {"id"});
        rows("two", statement.getGeneratedKeys());
        statement.executeUpdate("UPDATE k SET made = made + 1 WHERE id > 7", Statement.RETURN_GENERATED_KEYS);
        rows("updated", statement.getGeneratedKeys());
        rows("deleted", statement.executeQuery("DELETE FROM k WHERE id = 1 RETURNING name, made * 2 AS twice"));
        rows("upsert", statement.executeQuery(
            "INSERT INTO k (id, name) VALUES (2, 'again') ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *"));
      }
      // Rows that are changed through the result.
      try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
        ResultSet rows = statement.executeQuery("SELECT id, name, made FROM k ORDER BY id");
        rows.absolute(2);
        rows.updateString("name", "through the result");
        rows.updateRow();
        rows.last();
        rows.deleteRow();
        rows.moveToInsertRow();
        rows.updateLong("id", 100);
        rows.updateString("name", "new");
        rows.insertRow();
        rows.close();
        rows("in the end", statement.executeQuery("SELECT * FROM k ORDER BY id"));
      }
    }
  }

  static void cursors() throws Exception {
    for (String threshold : new String[] {"1", "5"}) {
      try (Connection connection = connect("prepareThreshold", threshold)) {
        execute(connection, "DROP TABLE IF EXISTS cu", "CREATE TABLE cu (id int PRIMARY KEY, v text)",
            "INSERT INTO cu SELECT a, 'v' || a FROM generate_series(1, 95) AS a");
        connection.setAutoCommit(false);
        try (PreparedStatement select = connection.prepareStatement("SELECT * FROM cu WHERE id > ? ORDER BY id")) {
          select.setFetchSize(10);
          for (int run = 0; run < 3; ++run) {
            select.setInt(1, run * 10);
            int count = 0;
            long sum = 0;
            ResultSet rows = select.executeQuery();
            while (rows.next()) {
              ++count;
              sum += rows.getInt(1) * rows.getString(2).length();
            }
            out.println("fetched " + count + " " + sum);
            rows.close();
          }
          // Two at a time, and one that is left before its end.
          ResultSet one = select.executeQuery();
          one.next();
          try (Statement other = connection.createStatement()) {
            other.setFetchSize(3);
            ResultSet two = other.executeQuery("SELECT id FROM cu ORDER BY id DESC");
            for (int i = 0; i < 7; ++i) {
              two.next();
              one.next();
            }
            out.println("beside each other " + one.getInt(1) + " " + two.getInt(1));
          }
          one.close();
        }
        connection.commit();
        try (Statement scroll = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
          ResultSet rows = scroll.executeQuery("SELECT id FROM cu ORDER BY id");
          rows.absolute(-2);
          out.print("scrolled " + rows.getInt(1));
          rows.relative(-10);
          out.println(" " + rows.getInt(1));
        }
        execute(connection, "DECLARE c CURSOR FOR SELECT id FROM cu ORDER BY id");
        try (Statement statement = connection.createStatement()) {
          rows("fetch", statement.executeQuery("FETCH 3 FROM c"));
          rows("fetch more", statement.executeQuery("FETCH FORWARD 2 FROM c"));
          statement.execute("CLOSE c");
        }
        connection.rollback();
      }
    }
  }

  /** Prints these columns of the rows. */
  static void calls() throws Exception {
    for (String mode : new String[] {"callIfNoReturn", "select"}) {
      final boolean calls = mode.equals("callIfNoReturn");
      for (String threshold : new String[] {"1", "5"}) {
        try (Connection connection = connect("escapeSyntaxCallMode", mode, "prepareThreshold", threshold)) {
          execute(connection, "DROP FUNCTION IF EXISTS f_sum", "DROP FUNCTION IF EXISTS f_many", "DROP PROCEDURE IF EXISTS p_note",
              "DROP PROCEDURE IF EXISTS p_swap", "DROP TABLE IF EXISTS called",
              "CREATE TABLE called (id int PRIMARY KEY, v numeric(8,2))",
              "CREATE FUNCTION f_sum(a int, b int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN a + b; END $$",
              "CREATE FUNCTION f_many(a int, OUT twice int, OUT words text) LANGUAGE plpgsql AS "
                  + "$$ BEGIN twice := a * 2; words := 'w' || a; END $$",
              "CREATE PROCEDURE p_note(p_id int, p_v numeric(8,2)) LANGUAGE plpgsql AS "
                  + "$$ BEGIN INSERT INTO called VALUES (p_id, p_v); END $$",
              "CREATE PROCEDURE p_swap(INOUT a int, INOUT b varchar(20)) LANGUAGE plpgsql AS "
                  + "$$ BEGIN a := a + 1; b := b || '!'; END $$");
          attempt(mode + " function", () -> {
            try (CallableStatement call = connection.prepareCall("{? = call f_sum(?, ?)}")) {
              for (int run = 0; run < 6; ++run) {
                call.registerOutParameter(1, Types.INTEGER);
                call.setInt(2, run);
                call.setInt(3, 40);
                call.execute();
                out.println(mode + " sum " + call.getInt(1));
              }
            }
          });
          attempt(mode + " function with OUT", () -> {
            try (CallableStatement call = connection.prepareCall("{call f_many(?, ?, ?)}")) {
              call.setInt(1, 21);
              call.registerOutParameter(2, Types.INTEGER);
              call.registerOutParameter(3, Types.VARCHAR);
              call.execute();
              out.println(mode + " many " + call.getInt(2) + " " + call.getString(3));
            }
          });
          attempt(mode + " procedure", () -> {
            if (!calls) {
              return;
            }
            try (CallableStatement call = connection.prepareCall("{call p_note(?, ?)}")) {
              for (int run = 0; run < 6; ++run) {
                call.setInt(1, run);
                call.setBigDecimal(2, new BigDecimal("1.25"));
                call.execute();
              }
            }
          });
          attempt(mode + " procedure with INOUT", () -> {
            try (CallableStatement call = connection.prepareCall("call p_swap(?, ?)")) {
              for (int run = 0; run < 6; ++run) {
                call.setInt(1, run);
                call.setString(2, "s" + run);
                call.registerOutParameter(1, Types.INTEGER);
                call.registerOutParameter(2, Types.VARCHAR);
                call.execute();
                out.println(mode + " swap " + call.getInt(1) + " " + call.getString(2));
              }
            }
          });
          attempt(mode + " no such procedure", () -> connection.prepareCall("call p_none(?)").execute());
          attempt(mode + " a wrong value", () -> connection.prepareCall("call p_note(1, 1e9)").execute());
          rows(mode + " called", connection.createStatement().executeQuery("SELECT count(*), sum(v) FROM called"));
        }
      }
    }
  }

  static void copies() throws Exception {
    try (Connection connection = connect()) {
      execute(connection, "DROP TABLE IF EXISTS cp", "CREATE TABLE cp (id int PRIMARY KEY, name text, price numeric(8,2), day date)");
      CopyManager copies = ((PGConnection) connection).getCopyAPI();
      StringBuilder lines = new StringBuilder();
      for (int i = 0; i < 500; ++i) {
        lines.append(i).append("\tname ").append(i).append("\t").append(i).append(".25\t").append(i % 3 == 0 ? "\\N" : "2024-02-29").append("\n");
      }
      out.println("text " + copies.copyIn("COPY cp FROM STDIN", new StringReader(lines.toString())));
      out.println("csv " + copies.copyIn("COPY cp (id, name) FROM STDIN (FORMAT csv, HEADER)", new StringReader("id,name\n1000,\"a, b\"\n1001,\n")));
      StringWriter written = new StringWriter();
      out.println("out " + copies.copyOut("COPY (SELECT * FROM cp WHERE id < 4 OR id >= 1000 ORDER BY id) TO STDOUT", written));
      out.println(written);
      written = new StringWriter();
      out.println("csv out " + copies.copyOut("COPY (SELECT * FROM cp WHERE id < 4 OR id >= 1000 ORDER BY id) TO STDOUT (FORMAT csv, HEADER)", written));
      out.println(written);
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      out.println("binary " + copies.copyOut("COPY (SELECT * FROM cp ORDER BY id) TO STDOUT (FORMAT binary)", bytes) + " " + bytes.size());
      execute(connection, "DELETE FROM cp");
      out.println("binary in " + copies.copyIn("COPY cp FROM STDIN (FORMAT binary)", new java.io.ByteArrayInputStream(bytes.toByteArray())));
      attempt("a key twice", () -> copies.copyIn("COPY cp FROM STDIN", new StringReader("5\tx\t1\t\\N\n")));
      attempt("a wrong number", () -> copies.copyIn("COPY cp FROM STDIN", new StringReader("x\tx\t1\t\\N\n")));
      attempt("too few columns", () -> copies.copyIn("COPY cp FROM STDIN", new StringReader("5000\tx\n")));
      attempt("no such table", () -> copies.copyIn("COPY none FROM STDIN", new StringReader("5000\tx\n")));
      org.postgresql.copy.CopyIn in = copies.copyIn("COPY cp FROM STDIN");
      byte[] line = "7000\tx\t1\t\\N\n".getBytes(StandardCharsets.UTF_8);
      in.writeToCopy(line, 0, line.length);
      in.cancelCopy();
      rows("in the end", connection.createStatement().executeQuery("SELECT count(*), sum(price), count(day) FROM cp"));
    }
  }

  static void cancel() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      // Asks again and again, as a request that comes before the statement is forgotten; Statement.cancel() asks once.
      Thread asking = new Thread(() -> {
        while (!Thread.currentThread().isInterrupted()) {
          try {
            connection.unwrap(PgConnection.class).cancelQuery();
            Thread.sleep(10);
          } catch (SQLException | InterruptedException e) {
            return;
          }
        }
      });
      asking.start();
      attempt("cancelled", () -> statement.executeQuery(ENDLESS));
      asking.interrupt();
      asking.join();
    }
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      execute(connection, "SET statement_timeout = 50");
      attempt("the server's timeout", () -> statement.executeQuery(ENDLESS));
      execute(connection, "RESET statement_timeout");
      rows("goes on", statement.executeQuery("SELECT 1"));
    }
  }

  static void errors() throws Exception {
    try (Connection connection = connect()) {
      execute(connection, "DROP TABLE IF EXISTS er_child", "DROP TABLE IF EXISTS er",
          "CREATE TABLE er (id int PRIMARY KEY, v smallint NOT NULL, w varchar(3), n numeric(4,2), CONSTRAINT positive CHECK (v > 0))",
          "CREATE TABLE er_child (id int PRIMARY KEY REFERENCES er)", "INSERT INTO er VALUES (1, 1)");
      for (String each : new String[] {"SELEC 1", "SELECT * FROM nowhere", "SELECT nothing FROM er", "SELECT 1 / 0", "SELECT 'a'::int",
               "SELECT nofunction(1)", "INSERT INTO er VALUES (1, 2)", "INSERT INTO er (id) VALUES (2)", "INSERT INTO er VALUES (2, 0)",
               "INSERT INTO er VALUES (2, 100000)", "INSERT INTO er VALUES (2, 1, 'long')", "INSERT INTO er VALUES (2, 1, 'x', 123.4)",
               "INSERT INTO er_child VALUES (9)", "INSERT INTO er VALUES (1, 2, 3, 4, 5, 6)", "DROP TABLE nowhere", "CREATE TABLE er (a int)",
               "SELECT id, count(*) FROM er", "SELECT 1 +", "SELECT date '2024-02-30'", "SELECT (SELECT id FROM er UNION ALL SELECT 2)",
               "UPDATE er SET nothing = 1", "SELECT 'unterminated", "SET nothing = 1", "ROLLBACK TO nothing",
               "SELECT 9223372036854775807 + 1", "SELECT sqrt(-1)", "SELECT id FROM er ORDER BY 3"}) {
        attempt(each, () -> execute(connection, each));
        attempt(each + " prepared", () -> {
          try (PreparedStatement prepared = connection.prepareStatement(each)) {
            prepared.execute();
          }
        });
      }
      attempt("details", () -> {
        try {
          execute(connection, "INSERT INTO er VALUES (1, 2)");
        } catch (PSQLException e) {
          out.println(e.getServerErrorMessage().getConstraint() + " " + e.getServerErrorMessage().getSeverity());
        }
      });
      attempt("details of a column", () -> {
        try {
          execute(connection, "INSERT INTO er VALUES (2, NULL)");
        } catch (PSQLException e) {
          out.println(e.getServerErrorMessage().getColumn());
        }
      });
      try (Statement statement = connection.createStatement()) {
        statement.execute("DROP TABLE IF EXISTS nowhere");
        out.println("warning " + statement.getWarnings().getSQLState() + " " + statement.getWarnings().getMessage());
      }
      rows("goes on", connection.createStatement().executeQuery("SELECT 1"));
    }
  }

  public static void main(String[] arguments) throws Exception {
    Object[][] parts = {{"types", (Part) JdbcTypes::types}, {"statements", (Part) JdbcClient::statements},
                        {"batches", (Part) JdbcClient::batches}, {"transactions", (Part) JdbcClient::transactions},
                        {"keys", (Part) JdbcClient::keys}, {"cursors", (Part) JdbcClient::cursors},
                        {"metadata", (Part) JdbcMetadata::metadata}, {"calls", (Part) JdbcClient::calls},
                        {"copies", (Part) JdbcClient::copies}, {"cancel", (Part) JdbcClient::cancel},
                        {"errors", (Part) JdbcClient::errors}};
    for (Object[] part : parts) {
      if (arguments.length == 0 || Arrays.asList(arguments).contains(part[0])) {
        out.println("== " + part[0]);
        try {
          ((Part) part[1]).run();
        } catch (SQLException e) {
          out.println("failed: " + e.getSQLState() + " " + e.getMessage());
          e.printStackTrace();
        }
      }
    }
    out.println("== end");
  }
}
