"""Storage files as a clean shutdown of the program leaves them."""

import contextlib
import pathlib
import random
import re
import sqlite3
import textwrap

NOW = 1_795_236_585_252

SCHEMA = pathlib.Path(__file__).parents[3] / "Sources/Exporter/Storage/StorageSchema.swift"


def storage_file(file: pathlib.Path, cities: int, points: int) -> None:
    """Writes cities with a point every 30 s, the newest of them now."""
    source = SCHEMA.read_text()
    # The program compares the definitions exactly.
    creation = textwrap.dedent(re.search(r'tables = """\n(.*?)"""', source, re.DOTALL)[1])
    version = re.search(r"version = (\d+)", source)[1]
    random_ = random.Random(7)
    with contextlib.closing(sqlite3.connect(file)) as database, database:
        database.executescript(
            f"""
            PRAGMA journal_mode = WAL;
            {creation};
            PRAGMA application_id = 0x41514958;
            PRAGMA user_version = {version};
            """
        )
        database.executemany(
            "INSERT INTO city VALUES (?, ?, 'india', 0, NULL, 0, 0, 150, ?, ?" + ", NULL" * 4 + ")",
            ((number + 1, f"City {number}", NOW, NOW) for number in range(cities)),
        )
        database.executemany(
            "INSERT INTO reading VALUES (?, ?, ?)",
            (
                (NOW - 30_000 * age - number % 30_000, number + 1, random_.randrange(50_000) / 100)
                for age in range(points)
                for number in range(cities)
            ),
        )


def stored(file: pathlib.Path, query: str) -> list[tuple]:
    """The result of a query of a copy, because the program keeps its file locked."""
    copy = file.with_name("copy.db")
    for suffix in ("", "-wal"):
        pathlib.Path(f"{copy}{suffix}").write_bytes(pathlib.Path(f"{file}{suffix}").read_bytes())
    with contextlib.closing(sqlite3.connect(copy)) as database:
        return database.execute(query).fetchall()


def stored_points(file: pathlib.Path) -> int:
    return stored(file, "SELECT count(*) FROM reading")[0][0]
