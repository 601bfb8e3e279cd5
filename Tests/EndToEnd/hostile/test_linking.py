"""The tables that the dynamic linker fills in are read-only before the program runs."""

import struct

import pytest

#: Program headers and tags of the dynamic section (elf.h): the table of function addresses, and
#: the flag of DT_FLAGS_1 that stands for `-z now`.
DYNAMIC, READ_ONLY = 2, 0x6474E552
TABLE, FLAGS_1, NOW = 3, 0x6FFFFFFB, 1


@pytest.mark.parametrize("name", ["air-quality-exporter", "air-quality-feed"])
def test_all_symbols_are_bound_at_start_and_then_read_only(programs, name):
    elf = (programs.folder / name).read_bytes()
    assert elf[:6] == b"\x7fELF\x02\x01", "a 64-bit ELF file"
    offset, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    # By type: flags, offset, address, address, bytes in the file, in memory.
    unpacked = [
        struct.unpack_from("<IIQQQQQ", elf, offset + number * size) for number in range(count)
    ]
    headers = {kind: rest for kind, *rest in unpacked}
    _, start, address, _, length, _ = headers[DYNAMIC]
    tags = dict(struct.iter_unpack("<QQ", elf[start : start + length]))
    assert tags.get(FLAGS_1, 0) & NOW
    assert READ_ONLY in headers
    _, _, first, _, _, protected = headers[READ_ONLY]
    assert all(first <= each < first + protected for each in (address, tags[TABLE]))
