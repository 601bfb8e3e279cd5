"""The rule by which cities are in shards, as docker/README.md documents it in Python."""

import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[3] / "docker" / "README.md"

_documented: dict = {}
exec(re.search(r"```python\n(def shard\(.*?)```", README.read_text(), re.DOTALL)[1], _documented)

#: The shard of a city of so many.
shard = _documented["shard"]
