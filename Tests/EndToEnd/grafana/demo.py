"""The air of `--feed.demo` at any moment, as Sources/Shared/FeedSimulation makes it."""

LEVELS = {
    "Mumbai": 180,
    "Bengaluru": 190,
    "Delhi": 300,
    "Kolkata": 200,
    "Bhubaneswar": 100,
    "Chennai": 140,
    "Pune": 220,
    "Hyderabad": 200,
    "Indore": 50,
    "Jaipur": 140,
    "Chandigarh": 45,
    "Lucknow": 75,
}
WORD = 2**64 - 1


def air(seed: int, second: float) -> dict[str, float]:
    """The index of each city that is not out of order."""
    silent = silent_city(seed, second)
    return {
        name: index(seed, city, level, second)
        for city, (name, level) in enumerate(LEVELS.items())
        if city != silent
    }


def index(seed: int, city: int, level: float, second: float) -> float:
    period = 3600 * (3 + 3 * chance(seed, 1, city))
    height = level * (0.08 + 0.06 * chance(seed, 2, city))
    wave = height * sine(second / period + chance(seed, 3, city))
    return level + wave + level * 0.01 * wind(seed, city, second)


def wind(seed: int, city: int, second: float) -> float:
    step, share = divmod(second / 600, 1)
    begin, end = (chance(seed, question + int(step), city) for question in (4, 5))
    return 2 * (begin + (end - begin) * share * share * (3 - 2 * share)) - 1


def silent_city(seed: int, second: float) -> int | None:
    turn, place = divmod(second, 1200)
    begin = 1200 * (0.3 + 0.3 * chance(seed, 7, int(turn)))
    length = 150 + 120 * chance(seed, 8, int(turn))
    is_silent = begin <= place < begin + length
    return int(chance(seed, 6, int(turn)) * len(LEVELS)) if is_silent else None


def sine(turns: float) -> float:
    turn = turns % 1
    half = turn * 2 % 1
    product = half * (1 - half)
    height = 16 * product / (5 - 4 * product)
    return height if turn < 0.5 else -height


def chance(seed: int, question: int, number: int) -> float:
    word = mixed((mixed(seed + question & WORD) + number * 0x9E3779B97F4A7C15) & WORD)
    return (word >> 11) * 2**-53


def mixed(number: int) -> int:
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & WORD
    number = (number ^ number >> 27) * 0x94D049BB133111EB & WORD
    return number ^ number >> 31
