"""Sessions of SQLAlchemy over psycopg2: tables, objects, and what it reads of the catalogs."""

import sqlalchemy as sa
from sqlalchemy.orm import Session, declarative_base, relationship
from sqlalchemy.pool import NullPool

Base = declarative_base()


class Author(Base):
    __tablename__ = "author"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(20), nullable=False, unique=True)
    books = relationship("Book", back_populates="author")


class Book(Base):
    __tablename__ = "book"
    id = sa.Column(sa.Integer, primary_key=True)
    title = sa.Column(sa.Text)
    price = sa.Column(sa.Numeric(8, 2))
    author_id = sa.Column(sa.ForeignKey("author.id"))
    author = relationship("Author", back_populates="books")


engine = sa.create_engine("postgresql+psycopg2://", poolclass=NullPool)
Base.metadata.create_all(engine)
with Session(engine) as session:
    session.add(Author(name="ann", books=[Book(title="a", price=1), Book(title="b", price=2)]))
    session.commit()
with Session(engine) as session:
    session.query(Author).join(Book).filter(Book.price > 1).order_by(Author.id).all()
    session.execute(sa.select(sa.func.count(), sa.func.sum(Book.price))).all()
with Session(engine) as session:
    session.add(Author(name="ann"))
    try:
        session.commit()
    except sa.exc.IntegrityError:
        session.rollback()
inspector = sa.inspect(engine)
inspector.get_table_names()
inspector.get_columns("book")
inspector.get_pk_constraint("book")
inspector.get_foreign_keys("book")
inspector.get_unique_constraints("author")
inspector.get_indexes("author")
Base.metadata.drop_all(engine)
