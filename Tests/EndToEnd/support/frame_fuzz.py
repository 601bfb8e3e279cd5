"""A seeded generator of frames: valid ones, then damaged ones."""

import json
import random
import struct
import threading

from support.raw_feed import (
    BINARY,
    CLOSE,
    COMPRESSION,
    CONTINUATION,
    PING,
    PONG,
    TEXT,
    Gone,
    Peer,
    compressed,
    frame,
)

#: What elements of messages are made of.
PIECES = [
    b"[", b"]", b"{", b"}", b",", b":",
    b'"',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b'"city"',
    b'"aqi"',
    b'"Delhi"',
    b"null", b"true", b"-0", b"1e999", b"0x10", b"12.5", b"007", b" ", b"\n", b"\x00", b"\xff",
    b"\xc3\x28",
    "नई".encode(),
    b"9" * 400,
]


class FrameFuzz:
    """A behaviour of a `RawFeed`: on each connection valid frames, a reading and a ping, then
    damaged frames."""

    def __init__(self, seed: int):
        self.seed = seed
        self.frames = 0
        self.bytes = 0
        self._changed = threading.Condition()
        self._answered: set[int] = set()
        self._goes_on = 0
        self._sent: dict[int, bytes] = {}

    def wait_for_pong(self, number: int, seconds: float = 30) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: number in self._answered, seconds)

    def go_on(self, number: int) -> None:
        with self._changed:
            self._goes_on = number
            self._changed.notify_all()

    def describe(self, number: int) -> str:
        return f"valid frames: {self._sent.get(number, b'').hex()[:4000]}"

    def __call__(self, peer: Peer) -> None:
        # Each connection has its own generator, so that one can be repeated alone.
        random_ = random.Random(f"{self.seed} {peer.number}")
        is_compressed = random_.random() < 0.5
        peer.open(COMPRESSION if is_compressed else None)
        valid = b"".join(self._valid(random_, is_compressed) for _ in range(random_.randrange(20)))
        self._sent = {peer.number: valid}
        self._send_in_pieces(peer, random_, valid)
        peer.send_reading(peer.number % 9000)
        peer.wait_for_pong(struct.pack(">I", peer.number))
        with self._changed:
            self._answered.add(peer.number)
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._goes_on >= peer.number, 60)
        frames = [self._valid(random_, is_compressed) for _ in range(random_.randrange(1, 20))]
        if random_.random() < 0.2:
            close = frame(
                CLOSE,
                random_.choice([b"", b"\x03\xe8bye", random_.randbytes(random_.randrange(126))]),
            )
            frames.insert(random_.randrange(len(frames) + 1), close)
            stream = b"".join(frames)
        else:
            stream = self._damage(random_, b"".join(frames))
        try:
            self._send_in_pieces(peer, random_, stream)
            peer.end_sending()
            while True:
                peer.read_frame()
        except Gone:
            pass

    def _send_in_pieces(self, peer: Peer, random_: random.Random, stream: bytes) -> None:
        self.bytes += len(stream)
        while stream:
            count = random_.choice([1, 2, 7, 100, 5000, 1 << 20])
            peer.send(stream[:count])
            stream = stream[count:]

    # Frames

    def _text(self, random_: random.Random) -> bytes:
        kind = random_.randrange(6)
        if kind == 0:
            return b"".join(random_.choices(PIECES, k=random_.randrange(30)))
        if kind == 1:
            return random_.randbytes(
                random_.choice([0, 1, 125, 126, 127, 1000, 65_535, 65_536, 70_000])
            )
        elements = [
            {
                "city": f"City {random_.randrange(20)}",
                "aqi": random_.choice([7, 50.5, "61", None, -1, 1e300, "x"]),
            }
            for _ in range(random_.randrange(20))
        ]
        text = json.dumps(elements).encode()
        return self._damage(random_, text) if kind == 2 else text

    def _valid(self, random_: random.Random, is_compressed: bool) -> bytes:
        """A message or a control frame."""
        self.frames += 1
        kind = random_.random()
        if kind < 0.2:
            return frame(random_.choice([PING, PONG]), random_.randbytes(random_.randrange(126)))
        opcode = TEXT if kind < 0.95 else BINARY
        payload = self._text(random_)
        reserved = 0
        if is_compressed and random_.random() < 0.7:
            payload, reserved = compressed(payload), 4
        if random_.random() < 0.6:
            return frame(opcode, payload, reserved=reserved)
        pieces = [b""]
        while payload:
            count = random_.choice([0, 1, 50, 4000, 50_000])
            pieces.append(payload[:count])
            payload = payload[count:]
        stream = b""
        for index, piece in enumerate(pieces):
            first, last = index == 0, index == len(pieces) - 1
            stream += frame(
                opcode if first else CONTINUATION,
                piece,
                final=last,
                reserved=reserved if first else 0,
            )
            if not last and random_.random() < 0.2:
                stream += frame(PING, random_.randbytes(random_.randrange(126)))
        self.frames += len(pieces) - 1
        return stream

    def _damage(self, random_: random.Random, stream: bytes) -> bytes:
        damaged = bytearray(stream)
        for _ in range(random_.randrange(1, 5)):
            position = random_.randrange(len(damaged) + 1)
            kind = random_.randrange(6)
            if kind == 0 and position < len(damaged):
                damaged[position] ^= 1 << random_.randrange(8)
            elif kind == 1:
                damaged[position:position] = random_.randbytes(random_.randrange(1, 20))
            elif kind == 2:
                del damaged[position : position + random_.randrange(1, 20)]
            elif kind == 3:
                del damaged[position:]
            elif kind == 4:
                end = min(len(damaged), position + random_.randrange(1, 200))
                damaged[position:position] = damaged[position:end]
            else:
                damaged[position:position] = frame(
                    CLOSE, random_.randbytes(random_.choice([0, 1, 2, 10, 125]))
                )
        return bytes(damaged)
