import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Properties;

/** Sessions of pgjdbc. */
public class JdbcSessions {
  interface Run {
    void with(Connection connection) throws SQLException;
  }

  static void session(Run run, String... options) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", System.getenv("PGUSER"));
    properties.setProperty("sslmode", "disable");
    properties.setProperty("gssEncMode", "disable");
    for (int i = 0; i < options.length; i += 2) {
      properties.setProperty(options[i], options[i + 1]);
    }
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    try (Connection connection = DriverManager.getConnection(url, properties)) {
      run.with(connection);
    } catch (SQLException e) {
      if (e.getSQLState() == null) {
        throw e;
      }
    }
  }

  static void drain(ResultSet rows) throws SQLException {
    while (rows.next()) {
      rows.getString(1);
    }
    rows.close();
  }

  static void execute(Connection connection, String text) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(text);
    }
  }

  static void insert(Connection connection) throws SQLException {
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO item (id, name, price) VALUES (?, ?, ?)")) {
      for (int i = 0; i < 6; ++i) {
        insert.setInt(1, i);
        insert.setString(2, "n" + i);
        insert.setBigDecimal(3, BigDecimal.valueOf(i, 2));
        insert.addBatch();
      }
      insert.executeBatch();
    }
    execute(connection, "DELETE FROM item");
  }

  static void select(Connection connection) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement("SELECT * FROM item WHERE id >= ? ORDER BY id")) {
      for (int i = 0; i < 7; ++i) {
        select.setInt(1, i);
        drain(select.executeQuery());
      }
    }
  }

  public static void main(String[] arguments) throws SQLException {
    session(connection -> execute(connection, "CREATE TABLE item (id int PRIMARY KEY, name varchar(20), price numeric(8,2), big bigint)"));
    session(JdbcSessions::insert);
    session(JdbcSessions::insert, "reWriteBatchedInserts", "true");
    session(JdbcSessions::insert, "prepareThreshold", "1");
    session(connection -> execute(connection, "INSERT INTO item VALUES (1, 'one', 1.5, 1), (2, NULL, NULL, NULL), (3, 'three', 3, 3)"));
    session(JdbcSessions::select);
    session(JdbcSessions::select, "prepareThreshold", "1");
    session(JdbcSessions::select, "preferQueryMode", "simple");
    session(connection -> {
      connection.setAutoCommit(false);
      execute(connection, "INSERT INTO item (id) VALUES (10)");
      Savepoint point = connection.setSavepoint("a");
      try {
        execute(connection, "INSERT INTO item (id) VALUES (10)");
      } catch (SQLException e) {
        connection.rollback(point);
      }
      connection.commit();
    });
    session(connection -> {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(2);
        drain(statement.executeQuery("SELECT id FROM item ORDER BY id"));
      }
      connection.rollback();
    });
    session(connection -> {
      try (PreparedStatement made = connection.prepareStatement("INSERT INTO item (id, name) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
        made.setInt(1, 20);
        made.setString(2, "made");
        made.executeUpdate();
        drain(made.getGeneratedKeys());
      }
    });
    session(connection -> {
      connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      connection.getTransactionIsolation();
      connection.setReadOnly(true);
      connection.setAutoCommit(false);
      drain(connection.createStatement().executeQuery("SELECT count(*) FROM item"));
      connection.commit();
    });
    session(connection -> drain(connection.createStatement().executeQuery("SELECT nothing FROM item")));
    session(connection -> {
      try (PreparedStatement some = connection.prepareStatement("SELECT id FROM item WHERE id = ANY(?) ORDER BY id")) {
        some.setArray(1, connection.createArrayOf("int4", new Object[] {1, 3, 77}));
        drain(some.executeQuery());
      }
    }, "prepareThreshold", "1");
  }
}
