"""The rule by which cities are in shards: the documented code and the documented table say the same."""

import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[3] / "docker" / "README.md"


def test_the_documented_code_gives_the_documented_table():
    code, table = re.search(
        r"```python\n(def shard\(.*?)```.*?(\| city \| FNV-1a \|.*?)\n\n", README.read_text(), re.DOTALL
    ).groups()
    documented = {}
    exec(code, documented)
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    assert len(rows) >= 10
    for name, _, *shards in rows:
        for count, shard in zip(head[2:], shards, strict=True):
            assert documented["shard"](name, int(count)) == int(shard), (name, count)
