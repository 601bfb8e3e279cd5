"""Just enough of PromQL to find selectors in an expression with Grafana variables in it; Prometheus checks the rest."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)
      | (?P<variable>\$\{\w+(?::\w+)?\}|\$\w+)
      | (?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+|[a-zA-Z]+)?)
      | (?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)
      | (?P<operator>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],:@])""",
    re.VERBOSE,
)
WORDS = {"and", "or", "unless", "bool", "offset", "atan2", "start", "end", "inf", "nan"}
AGGREGATIONS = {"sum", "min", "max", "avg", "count", "group", "count_values", "quantile", "stddev", "topk", "bottomk"}
GROUPINGS = {"by", "without", "on", "ignoring", "group_left", "group_right"}


class PromQLError(ValueError):
    """An expression that cannot be cut into tokens or whose brackets do not match."""


@dataclass
class Selector:
    metric: str
    matchers: list[tuple[str, str, str]]
    """Label, operator, value without its quotes."""
    range: str
    """What stands in square brackets behind it, or nothing."""
    functions: list[str]
    """The functions and aggregations around it, innermost last."""


def tokens(expression: str) -> list[tuple[str, str]]:
    found, position = [], 0
    while position < len(expression):
        match = TOKEN.match(expression, position)
        if match is None:
            raise PromQLError(f"unexpected {expression[position]!r} at {position} in {expression}")
        if match.lastgroup != "space":
            found.append((match.lastgroup, match.group()))
        position = match.end()
    return found


def selectors(expression: str) -> list[Selector]:
    found: list[Selector] = []
    stream = tokens(expression)
    calls: list[str] = []
    index = 0

    def text(at: int) -> str:
        return stream[at][1] if at < len(stream) else ""

    def closing(at: int, opening: str, closer: str) -> int:
        depth = 0
        for position in range(at, len(stream)):
            depth += {opening: 1, closer: -1}.get(text(position), 0) if stream[position][0] == "operator" else 0
            if depth == 0:
                return position
        raise PromQLError(f"{opening} is never closed in {expression}")

    while index < len(stream):
        kind, value = stream[index]
        if kind == "name" and value in GROUPINGS:
            index = closing(index + 1, "(", ")") + 1 if text(index + 1) == "(" else index + 1
            continue
        if kind == "name" and value not in WORDS and text(index + 1) != "(" and text(index + 1) not in GROUPINGS:
            matchers = []
            if text(index + 1) == "{":
                end = closing(index + 1, "{", "}")
                inside = stream[index + 2 : end]
                for at in range(0, len(inside), 4):
                    part = inside[at : at + 3]
                    if [kind for kind, _ in part] != ["name", "operator", "string"]:
                        raise PromQLError(f"bad matcher of {value} in {expression}")
                    matchers.append((part[0][1], part[1][1], part[2][1][1:-1]))
                index = end
            width = ""
            if text(index + 1) == "[":
                end = closing(index + 1, "[", "]")
                width = "".join(token for _, token in stream[index + 2 : end])
                index = end
            found.append(Selector(value, matchers, width, [call for call in calls if call]))
        elif value == "[" and kind == "operator":
            index = closing(index, "[", "]")
        elif value == "(" and kind == "operator":
            before = stream[index - 1] if index else ("", "")
            calls.append(
                before[1] if before[0] == "name" and before[1] not in WORDS else aggregation_before(stream, index)
            )
        elif value == ")" and kind == "operator":
            if not calls:
                raise PromQLError(f"one ) too many in {expression}")
            calls.pop()
        index += 1
    if calls:
        raise PromQLError(f"( is never closed in {expression}")
    return found


def aggregation_before(stream: list[tuple[str, str]], opening: int) -> str:
    """`sum` in `sum by (city) (`, where the grouping stands between the name and its bracket."""
    at = opening - 1
    if at < 0 or stream[at][1] != ")":
        return ""
    while at >= 0 and stream[at][1] != "(":
        at -= 1
    return stream[at - 2][1] if at >= 2 and stream[at - 1][1] in ("by", "without") else ""


def labels_of(expression: str) -> set[str]:
    """The labels that the outermost aggregation leaves; `topk` and its like hand on what is inside."""
    stream = tokens(expression)
    for index, (kind, value) in enumerate(stream):
        if kind == "name" and value in AGGREGATIONS and value not in ("topk", "bottomk"):
            if stream[index + 1][1] != "by":
                return set()
            end = next(at for at in range(index, len(stream)) if stream[at][1] == ")")
            return {text for kind, text in stream[index + 3 : end] if kind == "name"}
    return set()


def escape_regex(value: str) -> str:
    """What Grafana's `:regex` format does to a value (`escapeRegex` of @grafana/data)."""
    return re.sub(r"[\\^$*+?.()|\[\]{}/]", lambda match: "\\" + match.group(), value)


def format_value(values: list[str], how: str, all_value: str | None) -> str:
    """A variable's text in a query. `all_value` stands for itself, whatever the format."""
    if all_value is not None:
        return all_value
    if how == "regex":
        escaped = [escape_regex(value) for value in values]
    elif how == "":
        # What the Prometheus data source does to variables that allow several values: regular expression inside a
        # double-quoted string. It leaves double quotes alone, which is why city names go through `:regex`.
        escaped = [
            re.sub(r"[$^*{}\[\]+?.()|]", lambda match: "\\\\" + match.group(), value.replace("\\", "\\\\\\\\"))
            for value in values
        ]
    else:
        raise ValueError(f"format :{how} is not known here")
    return escaped[0] if len(escaped) == 1 else "(" + "|".join(escaped) + ")"


def interpolate(expression: str, variables: dict[str, tuple[list[str], str | None]], built_in: dict[str, str]) -> str:
    """The expression as Grafana sends it. `variables`: name → chosen values, or the value of All if chosen."""

    def value(match: re.Match[str]) -> str:
        name, how = match.group(1) or match.group(3), match.group(2) or ""
        if name in built_in:
            return built_in[name]
        if name not in variables:
            raise ValueError(f"${name} is not defined in {expression}")
        return format_value(variables[name][0], how, variables[name][1])

    return re.sub(r"\$\{(\w+)(?::(\w+))?\}|\$(\w+)", value, expression)
