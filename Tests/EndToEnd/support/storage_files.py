"""Storage files as earlier versions of the program left them."""

import contextlib
import pathlib
import random
import sqlite3

NOW = 1_795_236_585_252


def first_version(file: pathlib.Path, cities: int, points: int) -> None:
    """As that program left it at a proper end."""
    random_ = random.Random(7)
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.executescript(
            """
            PRAGMA page_size = 1024;
            PRAGMA journal_mode = WAL;
            CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, aqi REAL NOT NULL,
                updated_ms INTEGER NOT NULL, received_ms INTEGER NOT NULL, category INTEGER NOT NULL,
                direction INTEGER NOT NULL, changed_ms INTEGER, better INTEGER NOT NULL, worse INTEGER NOT NULL) STRICT;
            CREATE TABLE point (city INTEGER NOT NULL, time_ms INTEGER NOT NULL, aqi REAL NOT NULL,
                PRIMARY KEY (city, time_ms)) STRICT, WITHOUT ROWID;
            CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
            PRAGMA application_id = 0x41514958;
            PRAGMA user_version = 1;
            INSERT INTO setting VALUES ('scale', 'india'), ('closed', 'with all counters');
            """
        )
        database.executemany(
            "INSERT INTO city VALUES (?, ?, 150, ?, ?, 3, 0, NULL, 0, 0)",
            ((number + 1, f"City {number}", NOW, NOW) for number in range(cities)),
        )
        database.executemany(
            "INSERT INTO point VALUES (?, ?, ?)",
            (
                (number + 1, NOW - 30_000 * age - number % 30_000, random_.randrange(50_000) / 100)
                for number in range(cities)
                for age in range(points)
            ),
        )
