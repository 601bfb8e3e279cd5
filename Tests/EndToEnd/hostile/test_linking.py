"""What the dynamic linker fills in is read-only before the program runs."""

import struct

import pytest

#: Program headers and tags of the dynamic section (elf.h), and the flag of DT_FLAGS_1 that stands for `-z now`.
DYNAMIC, READ_ONLY = 2, 0x6474E552
FLAGS_1, NOW = 0x6FFFFFFB, 1


@pytest.mark.parametrize("name", ["air-quality-exporter", "air-quality-feed"])
def test_all_symbols_are_bound_at_the_start(programs, name):
    elf = (programs.folder / name).read_bytes()
    assert elf[:6] == b"\x7fELF\x02\x01", "a 64-bit ELF file"
    offset, = struct.unpack_from("<Q", elf, 32)
    size, count = struct.unpack_from("<HH", elf, 54)
    # Type, flags, offset, address, address, bytes in the file.
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + number * size) for number in range(count)]
    assert READ_ONLY in [header[0] for header in headers]
    start, length = next((header[2], header[5]) for header in headers if header[0] == DYNAMIC)
    tags = dict(struct.iter_unpack("<QQ", elf[start : start + length]))
    assert tags.get(FLAGS_1, 0) & NOW
