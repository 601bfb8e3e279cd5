"""What is resident of the program at rest, as the kernel counts it."""

import re

from support import metrics
from support.programs import Program
from support.waiting import wait_for


def linker_tables(program: Program, library: str) -> tuple[int, int]:
    """KiB of symbols and relocations of a library, which stand where its file begins: all of them, and the resident ones."""
    with open(f"/proc/{program.pid}/smaps") as smaps:
        mappings = re.split(r"^(?=[0-9a-f]+-)", smaps.read(), flags=re.MULTILINE)
    (mapping,) = [text for text in mappings if re.match(rf"\S+ r--p 00000000 .*/{library}\.so\S*\n", text)]
    size, resident = (int(re.search(rf"^{name}: +(\d+) kB", mapping, re.MULTILINE)[1]) for name in ("Size", "Rss"))
    return size, resident


def test_tables_of_the_dynamic_linker_are_given_back(start):
    feed = start.feed("simulate", "--interval", "100ms")
    exporter = start.exporter("--feed.url", feed.url)
    for library in ("libcrypto", "libgnutls"):

        def are_given_back(library=library):
            size, resident = linker_tables(exporter, library)
            return resident * 2 < size

        wait_for(are_given_back, f"the pages of {library} that the linker read")
    # What is read again comes again: the program goes on.
    exporter.wait_for_sample(metrics.CITIES, 12)
