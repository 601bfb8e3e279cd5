"""Checks OpenMetrics pages with the grammar of the specification."""

import pathlib

import abnf


class _Rule(abnf.Rule):
    """A separate namespace for the rules of openmetrics.abnf."""


_Rule.from_file(pathlib.Path(__file__).with_name("openmetrics.abnf"))


def complaint(page: str) -> str | None:
    """The error of the grammar in the page; None if it accepts the page."""
    try:
        _Rule("exposition").parse_all(page)
    except abnf.ParseError as error:
        return str(error)
    return None
