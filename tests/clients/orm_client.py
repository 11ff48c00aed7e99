"""SQLAlchemy against the server that the environment names: tables made, rows of classes stored, loaded, changed and removed, the schema looked at.

usage: orm_client.py DRIVER     psycopg2
"""

import datetime
import decimal
import os
import sys

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects import postgresql

Base = orm.declarative_base()


class User(Base):
    __tablename__ = "user_account"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(30), nullable=False, unique=True)
    born = sa.Column(sa.Date)
    balance = sa.Column(sa.Numeric(12, 2), default=0)
    score = sa.Column(sa.Float)
    active = sa.Column(sa.Boolean, server_default=sa.text("true"))
    created = sa.Column(sa.DateTime, server_default=sa.func.localtimestamp())
    addresses = orm.relationship("Address", back_populates="user", cascade="all, delete-orphan")


class Address(Base):
    __tablename__ = "address"
    id = sa.Column(sa.BigInteger, primary_key=True)
    email = sa.Column(sa.String(60), nullable=False)
    user_id = sa.Column(sa.Integer, sa.ForeignKey("user_account.id"), nullable=False, index=True)
    user = orm.relationship("User", back_populates="addresses")


def equal(got, wanted):
    assert got == wanted, f"got {got}, wanted {wanted}"


def code_of(error):
    return error.orig.pgcode


def store(engine):
    with orm.Session(engine) as session:
        session.add_all([
            User(name="ann", born=datetime.date(2000, 2, 29), balance=decimal.Decimal("12.50"), score=1.5,
                 addresses=[Address(email="a@x"), Address(email="b@x")]),
            User(name="béla", balance=decimal.Decimal("-1.25")),
        ])
        session.commit()


def load(engine):
    with orm.Session(engine) as session:
        users = session.scalars(sa.select(User).options(orm.selectinload(User.addresses)).order_by(User.id)).all()
        equal([(user.name, user.born, user.balance, user.active, len(user.addresses)) for user in users],
              [("ann", datetime.date(2000, 2, 29), decimal.Decimal("12.50"), True, 2), ("béla", None, decimal.Decimal("-1.25"), True, 0)])
        equal(len(session.scalars(sa.select(User).options(orm.joinedload(User.addresses)).order_by(User.id).limit(1)).unique().all()), 1)
        counted = sa.select(User.name, sa.func.count(Address.id)).join(Address, isouter=True).group_by(User.name).order_by(User.name)
        equal([tuple(row) for row in session.execute(counted)], [("ann", 2), ("béla", 0)])
        mixed = sa.select(sa.func.coalesce(sa.func.sum(User.balance), 0), sa.func.upper(User.name), sa.case((User.active, "y"), else_="n"),
                          sa.extract("year", User.born), User.born + 1).where(User.name.ilike("A%")).group_by(User.name, User.active, User.born)
        equal([tuple(row) for row in session.execute(mixed)],
              [(decimal.Decimal("12.50"), "ANN", "y", decimal.Decimal(2000), datetime.date(2000, 3, 1))])
        equal(session.scalar(sa.select(sa.exists().where(User.name == "ann"))), True)
        union = sa.union_all(sa.select(sa.literal("x").label("a")), sa.select(User.name).where(User.name.in_(["ann", "zoe"])))
        equal(sorted(row[0] for row in session.execute(union)), ["ann", "x"])


def change(engine):
    with orm.Session(engine) as session:
        user = session.scalars(sa.select(User).where(User.name == "béla")).one()
        user.addresses.append(Address(email="c@x"))
        session.commit()
        session.execute(sa.update(User).where(User.name.in_(["ann", "nobody"])).values(score=User.score + 1))
        session.commit()
        equal(session.scalar(sa.select(User.score).where(User.name == "ann")), 2.5)
        session.delete(user)
        session.commit()
        equal(session.scalar(sa.select(sa.func.count(Address.id))), 2)


def fail(engine):
    with orm.Session(engine) as session:
        session.add(User(name="ann"))
        try:
            session.commit()
        except sa.exc.IntegrityError as error:
            equal(code_of(error), "23505")
            session.rollback()
        else:
            raise AssertionError("a name was stored twice")
        session.add(User(name="cleo"))
        with session.begin_nested():
            session.add(User(name="dan"))
        try:
            with session.begin_nested():
                session.add(User(name="cleo"))
                session.flush()
        except sa.exc.IntegrityError:
            pass
        session.commit()
        equal(session.scalars(sa.select(User.name).order_by(User.name)).all(), ["ann", "cleo", "dan"])


def stream(engine):
    with engine.connect() as connection:
        rows = connection.execution_options(stream_results=True).execute(sa.text("SELECT g FROM generate_series(1, 1000) g"))
        equal(sum(row[0] for row in rows), 500500)


def upsert(engine):
    insert = postgresql.insert(User).values(name="ann", score=7)
    with engine.begin() as connection:
        connection.execute(insert.on_conflict_do_update(index_elements=["name"], set_={"score": insert.excluded.score}))
        equal(connection.execute(sa.select(User.score).where(User.name == "ann")).scalar(), 7)


def inspect(engine):
    seen = sa.inspect(engine)
    equal(sorted(seen.get_table_names()), ["address", "user_account"])
    equal([(column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns("user_account")],
          [("id", "INTEGER", False), ("name", "VARCHAR(30)", False), ("born", "DATE", True), ("balance", "NUMERIC(12, 2)", True),
           ("score", "DOUBLE_PRECISION" if sa.__version__ < "2" else "DOUBLE PRECISION", True), ("active", "BOOLEAN", True),
           ("created", "TIMESTAMP", True)])
    equal(seen.get_pk_constraint("address")["constrained_columns"], ["id"])
    equal([(key["constrained_columns"], key["referred_table"]) for key in seen.get_foreign_keys("address")], [(["user_id"], "user_account")])
    equal([each["column_names"] for each in seen.get_unique_constraints("user_account")], [["name"]])
    equal(sorted(seen.get_sequence_names()), ["address_id_seq", "user_account_id_seq"])
    equal(seen.get_check_constraints("address"), [])
    equal(seen.get_table_comment("address"), {"text": None})
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE VIEW names AS SELECT id, name, balance, upper(name) AS loud FROM user_account"))
    seen = sa.inspect(engine)
    equal(seen.get_view_names(), ["names"])
    equal([(column["name"], str(column["type"])) for column in seen.get_columns("names")],
          [("id", "INTEGER"), ("name", "VARCHAR(30)"), ("balance", "NUMERIC(12, 2)"), ("loud", "TEXT")])
    equal(seen.get_view_definition("names").startswith("SELECT id, name"), True)
    with engine.begin() as connection:
        connection.execute(sa.text("DROP VIEW names"))
    metadata = sa.MetaData()
    metadata.reflect(engine)
    equal(sorted(metadata.tables), ["address", "user_account"])


def main():
    place = os.environ
    engine = sa.create_engine(f"postgresql+{sys.argv[1]}://{place['PGUSER']}@{place['PGHOST']}:{place['PGPORT']}/{place['PGDATABASE']}")
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    for step in (store, load, change, fail, stream, upsert, inspect):
        print(step.__name__, flush=True)
        step(engine)
    Base.metadata.drop_all(engine)
    assert not sa.inspect(engine).get_table_names()


if __name__ == "__main__":
    main()
