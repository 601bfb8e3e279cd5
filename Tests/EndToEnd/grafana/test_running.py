"""The dashboards and rules against the running exporter and a real Prometheus."""

import copy
import functools
import json

import pytest

from grafana import history, queries, rules, scale
from grafana.complaints import expect_none
from grafana.dashboards import INFINITY, PROMETHEUS, data_source, read_dashboards
from grafana.seeded_faults import FAULTS

# One stack for all of these, so all of them in one process.
pytestmark = pytest.mark.xdist_group("grafana")

SOURCES = {name: data_source(dashboard) for name, dashboard in read_dashboards().items()}
FOR_PROMETHEUS = [name for name, source in SOURCES.items() if source == PROMETHEUS]
FOR_HISTORY = [name for name, source in SOURCES.items() if source == INFINITY]


@pytest.fixture(scope="module")
def page(running):
    return running.exporter.scrape()


@pytest.fixture(scope="module")
def checks(running, page):
    """By name: takes the name of a dashboard and all of them, gives complaints."""
    table = scale.categories(page)
    return {
        "metrics": functools.partial(queries.check_metrics, page=page, recorded=rules.recorded()),
        "scale": lambda _, dashboards: scale.check_scale(dashboards, table),
        "queries": functools.partial(queries.check_queries, running=running),
        "history": functools.partial(history.check_history, running=running),
    }


def test_metrics_and_flags_that_are_named_exist(programs, page):
    help_text = "\n".join(programs.run("air-quality-exporter", "--help").output)
    expect_none(queries.check_names(page, help_text))


@pytest.mark.parametrize("name", SOURCES)
def test_metrics_in_queries_are_exposed_or_recorded(dashboards, checks, name):
    found = checks["metrics"](name, dashboards)
    assert not found, found
    assert found.count or name in FOR_HISTORY


def test_names_boundaries_colours_and_faces_are_the_exporters(dashboards, checks):
    expect_none(checks["scale"]("", dashboards))


@pytest.mark.parametrize("name", FOR_PROMETHEUS)
def test_queries_variables_and_annotations(dashboards, checks, name):
    expect_none(checks["queries"](name, dashboards))


def test_history_document(running):
    expect_none(history.check_document(running))


@pytest.mark.parametrize("name", FOR_HISTORY)
def test_history_through_the_infinity_data_source(dashboards, checks, name):
    expect_none(checks["history"](name, dashboards))


def test_every_rule_runs_without_an_error_and_every_record_is_there(running):
    expect_none(queries.check_rules(running))


@pytest.mark.parametrize("fault", [each for each in FAULTS if each.check in ("metrics", "scale", "queries", "history")],
                         ids=lambda fault: fault.name)  # fmt: skip
def test_seeded_fault_is_found(dashboards, checks, fault):
    seeded = copy.deepcopy(dashboards)
    fault.seed(seeded[fault.dashboard])
    assert seeded != dashboards, "the fault changes nothing"
    complaints = checks[fault.check](fault.dashboard, seeded)
    assert any(fault.complaint in each for each in complaints), json.dumps(complaints[:3], ensure_ascii=False)
