import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.Date;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import org.postgresql.PGStatement;

/** The part of JdbcClient that sends and reads values of all types. */
class JdbcTypes extends JdbcClient {
  static final String ALL = "INSERT INTO every (id, si, i, b, n, m, r, d, v, c, t, o, day, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

  static void set(PreparedStatement insert, int id) throws SQLException {
    insert.setInt(1, id);
    insert.setShort(2, (short) (-id * 1000));
    insert.setInt(3, id * 100_000_000);
    insert.setLong(4, id * 1_000_000_000_000L);
    insert.setBigDecimal(5, new BigDecimal("-12345.67").multiply(BigDecimal.valueOf(id)));
    insert.setBigDecimal(6, new BigDecimal("0.000123").add(BigDecimal.valueOf(id)));
    insert.setFloat(7, id / 3f);
    insert.setDouble(8, id / 7d);
    insert.setString(9, "v" + id + " naïve");
    insert.setString(10, "c" + id);
    insert.setString(11, "a 'text' with \"quotes\", \\ and € " + id);
    insert.setBoolean(12, id % 2 == 0);
    insert.setObject(13, LocalDate.of(1999, 12, 28).plusDays(id));
    insert.setObject(14, LocalDateTime.of(2024, 2, 28, 23, 59, id, 123_456_000));
  }

  static void types() throws Exception {
    for (String threshold : new String[] {"0", "1", "5", "-1"}) {
      try (Connection connection = connect("prepareThreshold", threshold)) {
        execute(connection, "DROP TABLE IF EXISTS every",
            "CREATE TABLE every (id serial PRIMARY KEY, si smallint, i integer, b bigint, n numeric(20,2), m numeric(12,6), r real, "
                + "d double precision, v varchar(20), c char(5), t text, o boolean, day date, at timestamp)");
        try (PreparedStatement insert = connection.prepareStatement(ALL)) {
          for (int id = 1; id <= 7; ++id) {
            set(insert, id);
            out.println("inserted " + insert.executeUpdate());
          }
          insert.clearParameters();
          insert.setInt(1, 8);
          int[] kinds = {Types.SMALLINT, Types.INTEGER, Types.BIGINT, Types.NUMERIC, Types.DECIMAL, Types.REAL, Types.DOUBLE, Types.VARCHAR,
                         Types.CHAR, Types.VARCHAR, Types.BOOLEAN, Types.DATE, Types.TIMESTAMP};
          for (int i = 0; i < kinds.length; ++i) {
            insert.setNull(i + 2, kinds[i]);
          }
          out.println("inserted nulls " + insert.executeUpdate());
          insert.setObject(13, Date.valueOf("2001-02-03"));
          insert.setTimestamp(14, Timestamp.valueOf("2001-02-03 04:05:06.789"));
          insert.setInt(1, 9);
          out.println("inserted java.sql " + insert.executeUpdate());
        }
        try (PreparedStatement select = connection.prepareStatement("SELECT * FROM every WHERE id >= ? ORDER BY id")) {
          for (int i = 0; i < 7; ++i) {
            select.setInt(1, i + 3);
            rows("threshold " + threshold + " run " + i, select.executeQuery());
          }
          out.println("prepared at the server " + ((PGStatement) select).isUseServerPrepare());
          columns("every", select.getMetaData());
        }
        String[] conditions = {"si = ?", "i = ?", "b = ?", "n = ?", "m = ?", "r = ?", "d = ?", "v = ?", "c = ?", "t = ?", "o = ?", "day = ?",
                               "at = ?"};
        for (int i = 0; i < conditions.length; ++i) {
          try (PreparedStatement find = connection.prepareStatement(
                   "SELECT e.id FROM every e, (SELECT * FROM every WHERE id = 3) three WHERE e." + conditions[i] + " ORDER BY e.id")) {
            for (int run = 0; run < 3; ++run) {
              set3(find, i);
              rows("found by " + conditions[i], find.executeQuery());
            }
          }
        }
        try (PreparedStatement some = connection.prepareStatement("SELECT id FROM every WHERE id = ANY(?) ORDER BY id")) {
          for (int run = 0; run < 3; ++run) {
            some.setArray(1, connection.createArrayOf("int4", new Object[] {2, 4, 400}));
            rows("any int", some.executeQuery());
          }
        }
        try (PreparedStatement some = connection.prepareStatement("SELECT id FROM every WHERE v = ANY(?) ORDER BY id")) {
          for (int run = 0; run < 3; ++run) {
            some.setArray(1, connection.createArrayOf("text", new Object[] {"v2 naïve", "v5 naïve", "no \"such\" one"}));
            rows("any text", some.executeQuery());
          }
        }
        try (PreparedStatement arrays = connection.prepareStatement(
                 "SELECT ARRAY[1, 2, NULL], ARRAY['a', 'b c', 'null'], ARRAY[true, false], ARRAY[DATE '2024-02-29'], ?::int[], "
                     + "ARRAY[0.5::float8], ARRAY[1::bigint], ARRAY[TIMESTAMP '2024-02-29 01:02:03']")) {
          for (int run = 0; run < 3; ++run) {
            arrays.setArray(1, connection.createArrayOf("int4", new Object[run]));
            attempt("arrays", () -> rows("arrays", arrays.executeQuery()));
          }
        }
        // Values at the ends of what the types hold.
        try (PreparedStatement ends = connection.prepareStatement(
                 "SELECT 32767::smallint, (-2147483648)::int, 9223372036854775807::bigint, 'NaN'::float8, '-Infinity'::real, 1e300::float8, "
                     + "''::text, 0::numeric(5,2), -0.5::numeric, 123456789012345678901234567890.12345678::numeric(38,8), DATE '0001-01-01', "
                     + "TIMESTAMP '9999-12-31 23:59:59.999999', 100::numeric, 10000::numeric, 0.0001::numeric, NULL::int, NULL")) {
          for (int run = 0; run < 3; ++run) {
            ResultSet row = ends.executeQuery();
            row.next();
            StringBuilder line = new StringBuilder("ends");
            for (int i = 1; i <= row.getMetaData().getColumnCount(); ++i) {
              line.append(" | ").append(row.getString(i));
            }
            out.println(line);
          }
        }
      }
    }
  }

  /** Sets the parameter to what row 3 has in the column. */
  static void set3(PreparedStatement find, int column) throws SQLException {
    switch (column) {
      case 0: find.setShort(1, (short) -3000); break;
      case 1: find.setInt(1, 300_000_000); break;
      case 2: find.setLong(1, 3_000_000_000_000L); break;
      case 3: find.setBigDecimal(1, new BigDecimal("-37037.01")); break;
      case 4: find.setBigDecimal(1, new BigDecimal("3.000123")); break;
      case 5: find.setFloat(1, 3 / 3f); break;
      case 6: find.setDouble(1, 3 / 7d); break;
      case 7: find.setString(1, "v3 naïve"); break;
      case 8: find.setString(1, "c3"); break;
      case 9: find.setString(1, "a 'text' with \"quotes\", \\ and € 3"); break;
      case 10: find.setBoolean(1, false); break;
      case 11: find.setObject(1, LocalDate.of(1999, 12, 31)); break;
      default: find.setObject(1, LocalDateTime.of(2024, 2, 28, 23, 59, 3, 123_456_000)); break;
    }
  }
}
