"""What the tests share: the programs as processes, the peers they talk to, and readers of what they
answer."""
