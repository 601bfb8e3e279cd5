"""suggest.jq alone, with jq: what its first candidate reads from the messages of real services.

suggest.jsonl has a case a line: `name`, `messages`, the `readings` that a person expects (none: no
candidate), `computed` where the index comes from concentrations (here PM2.5 stands for it),
`scale`, `caution`, `protocol`, `wants`, what comes along (`beside`), and `gap` where a person
could read what suggest.jq does not.
"""

import functools
import json
import pathlib
import random
import resource
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PROGRAM = ROOT / "Sources/Exporter/AirQualityExporter/Probe/Resources/suggest.jq"
CASES = [
    json.loads(line)
    for line in pathlib.Path(__file__).with_name("suggest.jsonl")
    .read_text().splitlines()
]
INDICES = "def india_aqi: .pm2_5 // .pm10; "
DEFAULTS = {
    "city": ("city-field", "city"), "aqi": ("value-field", "aqi"), "time": ("time-field", "time"),
    "pollutants": ("pollutants-field", "pollutants"), "place": ("place-field", "place"),
}


def jq(*arguments: str, value) -> list:
    done = subprocess.run(
        ["jq", "--compact-output", *arguments],
        input=json.dumps(value), capture_output=True, text=True, timeout=60, check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def suggest(messages: list) -> dict:
    [suggested] = jq("--from-file", str(PROGRAM), value=messages)
    return suggested


@pytest.fixture(scope="module")
def suggested() -> list[dict]:
    """What is suggested for each case: one process for all of them."""
    values = [case["messages"] for case in CASES]
    return jq(f".[] | (\n{PROGRAM.read_text()})", value=values)


@pytest.fixture(scope="module")
def results(suggested) -> dict[int, list]:
    """What the programs of the first candidates make of their messages, by the case's index."""
    programs = {
        index: one["candidates"][0]["jq"] for index, one in enumerate(suggested)
        if one["candidates"] and "jq" in one["candidates"][0]
    }
    program = ", ".join(f"[.[{index}][] | ({text})]" for index, text in programs.items())
    values = [case["messages"] for case in CASES]
    return dict(zip(programs, jq(INDICES + program, value=values), strict=True))


def member(element, field: str):
    """The member that a field flag names: by its name, or by a JSON Pointer."""
    for part in field[1:].split("/") if field.startswith("/") else [field]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(element, list) and part.isdecimal() and int(part) < len(element):
            element = element[int(part)]
        elif isinstance(element, dict):
            element = element.get(part)
        else:
            return None
    return element


def elements(candidate: dict, messages: list, results: list | None = None) -> list[dict]:
    """What the exporter would decode with the candidate's flags or program."""
    if "jq" in candidate:
        if results is None:
            results = jq(f".[] | {INDICES} {candidate['jq']}", value=messages)
        return [one for each in results for one in (each if isinstance(each, list) else [each])]
    flags = {name.removeprefix("feed."): value for name, value in candidate["flags"].items()}
    fields = {key: flags.get(flag, default) for key, (flag, default) in DEFAULTS.items()}
    rows = fields["city"][:2] in {f"/{digit}" for digit in range(10)}
    found = []
    for message in messages:
        items = member(message, flags["items"]) if "items" in flags else message
        many = isinstance(items, list) and (not rows or isinstance(items[0], list))
        found += [
            {key: member(element, field) for key, field in fields.items()}
            for element in (items if many else [items])
        ]
    return found


def readings(found: list[dict]) -> dict[str, float]:
    read = {}
    for element in found:
        city, aqi = element.get("city"), element.get("aqi")
        try:
            read[city if isinstance(city, str) else str(int(city))] = float(aqi)
        except (TypeError, ValueError):
            continue
    return read


def test_the_corpus_has_many_cases_few_of_which_cannot_be_read():
    assert len(CASES) > 200
    assert sum("gap" in case for case in CASES) <= len(CASES) / 10


def test_it_can_be_read_as_a_document_of_its_rules():
    lines = PROGRAM.read_text().splitlines()
    assert len(lines) <= 242
    assert [line for line in lines if len(line) > 140] == []


@pytest.mark.parametrize(
    "index", [pytest.param(index, id=case["name"]) for index, case in enumerate(CASES)],
)
def test_the_first_candidate_reads_what_a_person_expects(suggested, results, index):
    case, suggested = CASES[index], suggested[index]
    assert len(suggested["candidates"]) <= 3
    assert (suggested["protocol"] or {}).get("name") == case.get("protocol")
    assert suggested["wants"] == case.get("wants")
    if not case["readings"] or "gap" in case:
        assert suggested["candidates"] == []
        assert suggested["missing"] or not suggested["fields"]
        return
    first = suggested["candidates"][0]
    found = elements(first, case["messages"], results.get(index))
    assert readings(found) == case["readings"]
    assert first.get("scale") == case.get("scale")
    assert ("india_aqi" in first.get("jq", "")) == case.get("computed", False)
    assert case.get("caution", "") in " ".join(first["cautions"])
    for key in case.get("beside", []):
        assert any(element.get(key) for element in found), key


def test_names_with_control_characters_are_in_no_candidate():
    hostile = "a\x1b[31m\x9b\n"
    for message in (
        {"city": "Delhi", f"aqi{hostile}": 30},
        {f"city{hostile}": "Delhi", "aqi": 30},
        {hostile: {"city": "Delhi", "aqi": 30}},
        [{"city": "Delhi", "measurements": [{"parameter": "aqi", f"x{hostile}": 1, "value": 30}]}],
    ):
        for candidate in suggest([message] * 2)["candidates"]:
            words = json.dumps(candidate.get("jq", candidate.get("flags")), ensure_ascii=False)
            assert words.isprintable() and "x1b" not in words and "u001b" not in words


def test_texts_in_a_program_are_quoted():
    name = 'x"\\(1)\' | error'
    suggested = suggest([[{name: {"name": "Delhi"}, "aqi": 30, "pm25": 9}]])
    message = [{name: {"name": "Delhi"}, "aqi": 30, "pm25": 9}]
    found = elements(suggested["candidates"][0], [message])
    assert readings(found) == {"Delhi": 30}


def word(generator: random.Random) -> str:
    return "".join(generator.choices("abcdefghijklmnopqrstuvwxyzABCDEFGH_", k=8))


@functools.cache
def hostile_messages() -> dict[str, list]:
    some = random.Random(1)
    rows = [{"city": word(some), "aqi": place % 500, "pm25": 3.5} for place in range(50_000)]
    return {
        "an object of 2,000 numbers": [{word(some): some.random() for _ in range(2_000)}],
        "2,000 indexes": [{"name": "A", **{f"aqi_{word(some)}": n % 500 for n in range(2_000)}}],
        "300 texts": [{word(some): word(some) * 80 for _ in range(300)}],
        "300 messages, no two alike": [
            {word(some): word(some) for _ in range(30)} for _ in range(300)
        ],
        "an array of 50,000 objects": [rows],
        "an object of 50,000 keys": [{word(some): {"aqi": n} for n in range(50_000)}],
        "a million brackets": ["[" * 1_000_000],
        "a megabyte of braces": ["42" + "{}" * 500_000 + "}"],
        "a name of a megabyte": [
            {"k" * 1_000_000: {f"s{n}": {"city": "c", "aqi": n} for n in range(180)}}
        ],
        "JSON in a text": [json.dumps({"city": "x", "aqi": 30, "z": [1] * 500_000})],
        "JSON in texts in texts": [json.dumps([json.dumps([json.dumps(["x"] * 50)] * 50)] * 20)],
        "a megabyte of commas": ["city,aqi", "," * 1_000_000],
        "a megabyte of slashes": [{"topic": "/" * 1_000_000, "aqi": 3}],
        "nested 60 deep": [json.loads('{"a":' * 60 + "1" + "}" * 60)],
        "maps of maps": [
            {word(some): {word(some): {word(some): {word(some): 3 for _ in range(8)}
             for _ in range(8)} for _ in range(8)} for _ in range(8)}
        ],
    }


@pytest.mark.parametrize("name", hostile_messages())
def test_a_hostile_message_ends_within_its_limits(name):
    """Four processor seconds here, because machines differ: the exporter allows one."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (4, 4))
        resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))

    done = subprocess.run(
        ["jq", "--compact-output", "--from-file", PROGRAM],
        input=json.dumps(hostile_messages()[name]), preexec_fn=limit,
        capture_output=True, text=True, timeout=60, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) < 40_000
