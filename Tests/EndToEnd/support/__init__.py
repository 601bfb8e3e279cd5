"""What the tests share: the programs as processes, the peers they talk to, and parsers of their
output."""
