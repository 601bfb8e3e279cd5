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
    height = 0.08 + 0.06 * chance(seed, 2, city)
    period = 3600 * (3 + 3 * chance(seed, 1, city))
    day = height * wave(second / period + chance(seed, 3, city))
    wind = 0.01 * wave(second / (1800 * (1 + chance(seed, 4, city))) + chance(seed, 5, city))
    return level * (1 + day + wind)


def silent_city(seed: int, second: float) -> int | None:
    turn, place = divmod(second, 1200)
    is_silent = 480 <= place <= 630 + 90 * chance(seed, 7, int(turn))
    return int(chance(seed, 6, int(turn)) * len(LEVELS)) if is_silent else None


def wave(turns: float) -> float:
    half = 2 * (turns % 1)
    return 4 * half * (1 - half) if half < 1 else 4 * (half - 1) * (half - 2)


def chance(seed: int, question: int, number: int) -> float:
    word = mixed((mixed(seed + question & WORD) + number * 0x9E3779B97F4A7C15) & WORD)
    return (word >> 11) * 2**-53


def mixed(number: int) -> int:
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & WORD
    number = (number ^ number >> 27) * 0x94D049BB133111EB & WORD
    return number ^ number >> 31
