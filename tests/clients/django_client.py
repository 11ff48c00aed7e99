"""Django against the server that the environment names: its own migrations and those of three models, and what its queries are made of.

Django's migrations change the schema and rows in one block: mneme.schema_change_commits is on.
"""

import datetime
import decimal
import os
import pathlib
import sys
import tempfile

import django
from django.conf import settings
from django.core.management import call_command

folder = pathlib.Path(tempfile.mkdtemp(prefix="mneme-django-"))
(folder / "shop" / "migrations").mkdir(parents=True)
for package in ("shop", "shop/migrations"):
    (folder / package / "__init__.py").touch()
(folder / "shop" / "models.py").write_text('''
from django.db import models


class Author(models.Model):
    name = models.CharField(max_length=100)
    born = models.DateField(null=True)
    score = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    created = models.DateTimeField(auto_now_add=True)


class Tag(models.Model):
    slug = models.SlugField(unique=True)


class Book(models.Model):
    title = models.CharField(max_length=200, db_index=True)
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="books")
    pages = models.PositiveIntegerField(default=0)
    rating = models.FloatField(null=True)
    tags = models.ManyToManyField(Tag)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["title", "author"], name="one_title")]
''', encoding="utf-8")
sys.path.insert(0, str(folder))
settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "shop"], USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "HOST": os.environ["PGHOST"],
                           "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"],
                           "OPTIONS": {"options": "-c mneme.schema_change_commits=on"}}})
django.setup()

# pylint: disable=wrong-import-position
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models import Avg, Case, Count, Exists, F, OuterRef, Subquery, Value, When, functions
from shop.models import Author, Book, Tag


def equal(got, wanted):
    assert got == wanted, f"got {got}, wanted {wanted}"


call_command("makemigrations", "shop", verbosity=0)
call_command("migrate", verbosity=0)
author = Author.objects.create(name="Ann", born=datetime.date(1980, 1, 2), score=decimal.Decimal("3.5"))
Book.objects.bulk_create([Book(title=f"b{i}", author=author, pages=i) for i in range(20)])
equal(Author.objects.annotate(n=Count("books"), p=Avg("books__pages")).values_list("name", "n", "p")[0], ("Ann", 20, 9.5))
equal(Book.objects.filter(pages__gt=5).update(pages=F("pages") + 1), 14)
equal(Book.objects.filter(title__icontains="B1").count(), 11)
equal(list(Book.objects.filter(title__in=["b1", "b2"]).order_by("-title").values_list("title", flat=True)), ["b2", "b1"])
equal(Book.objects.filter(title__iregex="^B1.$").count(), 10)
tag, made = Tag.objects.get_or_create(slug="x")
assert made
Book.objects.first().tags.add(tag)
equal(Book.objects.filter(tags__slug="x").count(), 1)
equal([each.year for each in Author.objects.dates("born", "year")], [1980])
equal(Author.objects.filter(created__year=datetime.datetime.now(datetime.timezone.utc).year).count(), 1)
equal(Author.objects.filter(Exists(Book.objects.filter(author=OuterRef("pk"), pages__gt=3))).count(), 1)
longest = Book.objects.filter(author=OuterRef("pk")).order_by("-pages").values("title")[:1]
equal(Author.objects.annotate(longest=Subquery(longest)).values_list("longest", flat=True)[0], "b19")
sizes = Book.objects.annotate(size=Case(When(pages__lt=10, then=Value("s")), default=Value("l"))).values("size").annotate(n=Count("id"))
equal(sorted((each["size"], each["n"]) for each in sizes), [("l", 11), ("s", 9)])
shown = Book.objects.order_by("id").annotate(
    whole=functions.Concat("title", Value("-"), "author__name"), wide=functions.LPad("title", 5, Value("*")), large=functions.Upper("title"),
    rated=functions.Coalesce("rating", 0.0), year=functions.ExtractYear("author__born"), most=functions.Greatest("pages", Value(3)))
equal(shown.values_list("whole", "wide", "large", "rated", "year", "most")[0], ("b0-Ann", "***b0", "B0", 0.0, 1980, 3))
try:
    with transaction.atomic():
        Tag.objects.create(slug="x")
    raise AssertionError("no error")
except IntegrityError:
    pass
Tag.objects.bulk_create([Tag(slug="x"), Tag(slug="y")], ignore_conflicts=True)
equal(Tag.objects.count(), 2)
with transaction.atomic():
    Author.objects.select_for_update().get(pk=author.pk)
User.objects.create_user("joe", "joe@example.org", "secret")
assert User.objects.get(username="joe").check_password("secret")
assert "shop_book" in connection.introspection.table_names()
with connection.cursor() as cursor:
    equal(sorted(connection.introspection.get_relations(cursor, "shop_book")), ["author_id"])
    constraints = connection.introspection.get_constraints(cursor, "shop_book")
    assert constraints["one_title"]["unique"] and constraints["one_title"]["columns"] == ["title", "author_id"], constraints
equal(Author.objects.filter(name="Ann").delete()[0], 22)
call_command("flush", interactive=False, verbosity=0)
