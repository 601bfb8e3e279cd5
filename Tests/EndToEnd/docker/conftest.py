"""What pytest, and so `make test`, takes from here: files/. The containers take minutes and have a command: ./run."""

collect_ignore = ["containers"]
