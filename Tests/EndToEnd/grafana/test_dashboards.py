"""The dashboards as files: types, structure, the linter's rules, format; and that each check finds what it is for."""

import copy
import json

import pytest

from grafana.complaints import expect_none
from grafana.dashboards import canonical, dashboard_path, read_dashboards
from grafana.foundation_types import check_types
from grafana.linter import check_linter_rules
from grafana.seeded_faults import FAULTS
from grafana.structure import check_structure

NAMES = list(read_dashboards())
CHECKS = {"types": check_types, "structure": check_structure, "linter": check_linter_rules}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", CHECKS)
def test_dashboard(dashboards, check, name):
    expect_none(CHECKS[check](name, dashboards))


@pytest.mark.parametrize("name", NAMES)
def test_file_is_indented_by_two_spaces_as_json_dumps_does_it(dashboards, name):
    assert dashboard_path(name).read_text() == canonical(dashboards[name])


def test_they_say_how_bad_because_of_what_where_and_since_when(dashboards):
    def panels(name: str) -> list[dict]:
        found = []
        for panel in dashboards[name]["panels"]:
            found += [panel, *panel.get("panels", [])]
        return found

    assert {dashboard["refresh"] for dashboard in dashboards.values()} == {"30s"}
    overview = {panel["type"]: json.dumps(panel) for panel in panels("aqi-overview")}
    assert "airquality_city_info" in overview["geomap"]
    assert "airquality_subindex" in overview["table"] and "offset 1d" in overview["table"]
    assert {"Main pollutant", "Since yesterday"} <= {panel["title"] for panel in panels("aqi-city")}
    rows = " ".join(panel["title"] for panel in panels("aqi-exporter") if panel["type"] == "row")
    assert all(word in rows for word in ("Shards", "Poller", "relay"))
    # Whole numbers of the index, everywhere.
    for name in ("aqi-overview", "aqi-city"):
        for panel in panels(name):
            if panel["type"] in ("stat", "timeseries", "gauge", "bargauge") and "airquality_index{" in json.dumps(panel):
                assert panel["fieldConfig"]["defaults"].get("decimals") == 0, panel["title"]


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.check in CHECKS], ids=lambda fault: fault.name)
def test_seeded_fault_is_found(dashboards, fault):
    seeded = copy.deepcopy(dashboards)
    fault.seed(seeded[fault.dashboard])
    assert seeded != dashboards, "the fault changes nothing"
    complaints = CHECKS[fault.check](fault.dashboard, seeded)
    assert any(fault.complaint in each for each in complaints), complaints[:3]
