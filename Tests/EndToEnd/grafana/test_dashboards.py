"""The dashboards as files: types, structure, the linter's rules, format; and that each check finds what it is for."""

import copy

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


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.check in CHECKS], ids=lambda fault: fault.name)
def test_seeded_fault_is_found(dashboards, fault):
    seeded = copy.deepcopy(dashboards)
    fault.seed(seeded[fault.dashboard])
    assert seeded != dashboards, "the fault changes nothing"
    complaints = CHECKS[fault.check](fault.dashboard, seeded)
    assert any(fault.complaint in each for each in complaints), complaints[:3]
