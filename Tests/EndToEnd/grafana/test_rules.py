"""Recording and alert rules, with promtool: they are valid, tried, documented, and their unit tests can fail."""

import shutil

import pytest

from grafana import rules
from grafana.complaints import expect_none

needs_promtool = pytest.mark.skipif(
    not shutil.which("promtool"), reason="no promtool: install Debian's package prometheus"
)
each_rule = pytest.mark.parametrize("path, rule", rules.ALL, ids=[rules.name_of(rule) for _, rule in rules.ALL])


@needs_promtool
@pytest.mark.parametrize("path", rules.FILES, ids=lambda path: path.name)
def test_promtool_accepts_the_rules(path):
    result = rules.promtool("check", "rules", "--lint-fatal", path)
    assert result.returncode == 0, result.stdout + result.stderr


@needs_promtool
@pytest.mark.parametrize("path", rules.TESTS, ids=lambda path: path.name)
def test_unit_tests_of_the_rules(path):
    result = rules.promtool("test", "rules", path)
    assert result.returncode == 0, result.stdout + result.stderr


@each_rule
def test_rule_is_named_described_and_tried(path, rule):
    expect_none(rules.check_rule(rule))


@pytest.mark.parametrize(
    "rule", [rule for _, rule in rules.ALL if "alert" in rule], ids=lambda rule: rule["alert"]
)  # fmt: skip
def test_alert_has_a_runbook(rule):
    assert f"alert-{rule['alert'].lower()}" in rules.anchors()


@needs_promtool
@each_rule
def test_changed_rule_is_noticed_by_its_unit_tests(path, rule):
    expect_none(rules.check_mutants(path, rule))
