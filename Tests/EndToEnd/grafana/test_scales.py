"""The dashboards of the other scales are made from those of the Indian one, and say what the exporter says.

RECORD_GOLDEN=1 writes them.
"""

import json
import os

import pytest

from grafana.complaints import expect_none
from grafana.dashboards import SCALES, canonical, dashboard_path
from grafana.foundation_types import check_types
from grafana.linter import check_linter_rules
from grafana.scale import Category, categories, check_scale
from grafana.scales import health_words, hints_of, made
from grafana.structure import check_structure

NAMES = ("aqi-overview", "aqi-city", "aqi-history")


@pytest.fixture(scope="module")
def exporters_words(programs) -> tuple[dict[str, list[Category]], dict[str, list[str]]]:
    """Of each scale the categories, and what they mean for health."""
    tables, words = {}, {}
    for scale in ("india", *SCALES):
        exporter = programs.exporter("--feed.demo", "--aqi.scale", scale)
        tables[scale] = categories(exporter.scrape())
        words[scale] = health_words(exporter.get("/about").text)
        exporter.stop()
    return tables, words


@pytest.fixture(scope="module")
def tables(exporters_words) -> dict[str, list[Category]]:
    return exporters_words[0]


def path_of(name: str, scale: str):
    path = dashboard_path(name)
    return path.parent.parent / scale / path.name


def test_health_words_are_the_exporters(dashboards, exporters_words):
    assert hints_of(dashboards) == exporters_words[1]["india"]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", NAMES)
def test_dashboard_is_made_from_the_indian_one(dashboards, exporters_words, name, scale):
    text = canonical(made(name, dashboards, scale, *exporters_words))
    path = path_of(name, scale)
    if os.environ.get("RECORD_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text, "run it with RECORD_GOLDEN=1"


@pytest.mark.parametrize("scale", SCALES)
def test_dashboards_hold_for_the_scale(dashboards, tables, scale):
    """All that is checked of the Indian ones; and no word, colour or sentence of India is left."""
    own = dashboards | {name: json.loads(path_of(name, scale).read_text()) for name in NAMES}
    expect_none(check_scale(own, tables[scale]))
    for name in NAMES:
        for check in (check_types, check_structure, check_linter_rules):
            expect_none(check(name, own))
        left = {category.color for category in tables["india"]} - {category.color for category in tables[scale]}
        left |= {"Satisfactory", "CPCB, 2014", "Indian"}
        assert not [each for each in left if each in canonical(own[name])]
