"""The rule that assigns cities to shards, which docker/README.md names."""


def shard(name: str, count: int) -> int:
    """The shard of a city, from 0 to below the count: jump consistent hash of its FNV-1a."""
    key = 0xCBF29CE484222325
    for byte in name.strip(" \t\n\v\f\r").encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    bucket, following = 0, 0
    while following < count:
        bucket = following
        key = (key * 2862933555777941757 + 1) % 2**64
        following = int((bucket + 1) * (2**31 / ((key >> 33) + 1)))
    return bucket
