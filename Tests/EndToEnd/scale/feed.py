"""A feed whose every value says when it was sent, so that each stored sample can be held against it.

As a program: `feed.py PORT CITIES INTERVAL LOG`. It writes the number and the time of each message to the log before it
sends it, and goes on after the log's last one, so that it may be killed at any moment.
"""

import asyncio
import json
import pathlib
import sys
import time

#: The first value of each category of the scale india.
BOUNDARIES = (0, 51, 101, 201, 301, 401)
#: A value's fraction is the number of its message.
STEPS = 100_000


def name(city: int) -> str:
    return f"City {city:06d}"


def _mix(one: int, two: int) -> int:
    """A number that looks like any other, of 32 bits."""
    word = (one * 0x9E3779B1 + two * 0x85EBCA77 + 0xC2B2AE3D) & 0xFFFFFFFF
    word = ((word ^ word >> 15) * 0x2C1B3C6D) & 0xFFFFFFFF
    word = ((word ^ word >> 12) * 0x297A2D39) & 0xFFFFFFFF
    return word ^ word >> 15


def is_present(city: int, step: int) -> bool:
    """Six cities of ten are in a message, and all are in the first."""
    return step == 0 or _mix(city, step) % 10 < 6


def level(city: int, step: int) -> int:
    """The index without its fraction; it stays the same for a while, another one for each city."""
    period = 4 + _mix(city, 1 << 20) % 20
    return _mix(city, (1 << 24) + (step + city) // period) % 500


def category(index: int) -> int:
    return sum(index >= boundary for boundary in BOUNDARIES)


def value(city: int, step: int) -> float:
    return float(f"{level(city, step)}.{step:05d}")


def step_of(value: float) -> int:
    return round((value - int(value)) * STEPS)


def message(cities: int, step: int) -> str:
    elements = (
        f'{{"city":"{name(city)}","aqi":{level(city, step)}.{step:05d}}}'
        for city in range(cities)
        if is_present(city, step)
    )
    return "[" + ",".join(elements) + "]"


def read_log(path: pathlib.Path) -> list[float]:
    """When each message was sent, by its number."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [float(line.split()[1]) for line in lines]


async def serve(port: int, cities: int, interval: float, log: pathlib.Path) -> None:
    from websockets.asyncio.server import broadcast, serve

    clients = set()

    async def keep(connection):
        clients.add(connection)
        try:
            await connection.wait_closed()
        finally:
            clients.discard(connection)

    async with serve(keep, "127.0.0.1", port, compression=None):
        print(json.dumps({"listening": port}), flush=True)
        step = len(read_log(log))
        with log.open("a") as lines:
            while True:
                while not clients:
                    await asyncio.sleep(0.01)
                text = message(cities, step)
                lines.write(f"{step} {time.time():.3f}\n")
                lines.flush()
                broadcast(clients, text)
                step += 1
                await asyncio.sleep(max(0, interval - time.time() % interval))


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), pathlib.Path(sys.argv[4])))
