"""The specification's grammar as a judge of OpenMetrics pages."""

import pathlib

import abnf


class _Rule(abnf.Rule):
    """A namespace of its own for the rules of openmetrics.abnf."""


_Rule.from_file(pathlib.Path(__file__).with_name("openmetrics.abnf"))


def complaint(page: str) -> str | None:
    """What the grammar has against the page; None when it accepts it."""
    try:
        _Rule("exposition").parse_all(page)
    except abnf.ParseError as error:
        return str(error)
    return None
