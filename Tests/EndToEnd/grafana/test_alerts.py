"""The alert rules in promtool: every alert of a story is right, none is missing or repeated."""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml

from grafana.dashboards import ROOT
from grafana.rules import ALERTS, RULES, named
from grafana.simulation import input_series
from grafana.stories import STORIES, Story
from grafana.victoria import VictoriaMetrics, fire
from support.commands import run
from support.exposition import parse_samples

pytestmark = pytest.mark.skipif(
    not shutil.which("promtool"), reason="no promtool: install Debian's package prometheus"
)


@pytest.fixture(scope="module")
def rules(request, tmp_path_factory) -> Path:
    """The rules; ranges of Prometheus 3 exclude their start, so they are 1 ms shorter."""
    file = tmp_path_factory.mktemp("rules") / RULES.name
    text = RULES.read_text()
    if request.param == "3":
        text = re.sub(r"\[(\d+)([mhd])\b", shorter, text)
    file.write_text(text)
    return file


# A real Prometheus 2 runs the others, and if nothing fires, one version is enough.
TOLD_TWICE = [story for story in STORIES if story.alerts and not story.speed]


def shorter(window: re.Match) -> str:
    milliseconds = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
    return f"[{int(window[1]) * milliseconds[window[2]] - 1}ms"


@pytest.mark.parametrize(
    "rules, story",
    [("3", story) for story in STORIES] + [("2.42", story) for story in TOLD_TWICE],
    ids=lambda value: getattr(value, "name", value),
    indirect=["rules"],
)
def test_the_alerts_of_a_story_fire_as_often_and_when_expected(rules, story):
    firing = 'ALERTS{alertstate="firing"}'
    step = f"{story.evaluation}s"
    begun = f"sum_over_time(({firing} unless {firing} offset {step})[{story.minutes}m:{step}])"
    checks = [check(f"sum by (alertname, severity) ({begun})", story.minutes, story.alerts)]
    for minute, names in story.firing.items():
        expected = dict.fromkeys(names.split(), 1)
        checks.append(check(f"group by (alertname, severity) ({firing})", minute, expected))
    series = input_series(story.exporters, story.minutes, story.interval)
    test = {"input_series": series, "promql_expr_test": checks}
    if not story.says:
        output = promtool(rules, story, test)
        assert "SUCCESS" in output, output
        return
    minute, names = next((minute, names) for minute, names in story.firing.items() if names)
    wrong = [silence(minute, name) for name in names.split()]
    output = promtool(rules, story, test | {"alert_rule_test": wrong})
    failures = re.findall(r"^ +(expr|alertname): ", output, re.MULTILINE)
    assert failures == ["alertname"] * len(wrong), output
    assert story.says in output
    assert "<error" not in output and "<no value>" not in output


@pytest.fixture(scope="module")
def victoria(tmp_path_factory):
    database = VictoriaMetrics(tmp_path_factory.mktemp("victoria"))
    yield database
    database.kill()


@pytest.mark.skipif(
    not shutil.which("victoria-metrics"), reason="no victoria-metrics: install Debian's package"
)
@pytest.mark.xdist_group("victoria")
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_the_alerts_of_a_story_are_the_same_in_victoriametrics(story, victoria):
    firing = fire(victoria, story)
    begun: Counter[tuple[str, str]] = Counter()
    for second in sorted(firing):
        begun += firing[second] - firing.get(second - story.interval, Counter())
    assert begun == {named(alert): count for alert, count in story.alerts.items()}
    for minute, names in story.firing.items():
        second = minute * 60 // story.interval * story.interval
        assert set(firing.get(second, ())) == {named(name) for name in names.split()}, minute


def check(expression: str, minute: int, alerts: dict[str, int]) -> dict:
    samples = []
    for alert, value in alerts.items():
        name, severity = named(alert)
        labels = f'{{alertname="{name}", severity="{severity}"}}'
        samples.append({"labels": labels, "value": value})
    return {"expr": expression, "eval_time": f"{minute}m", "exp_samples": samples}


def silence(minute: int, alert: str) -> dict:
    """Expects no such alert, so that promtool prints the one it got with all its texts."""
    return {"eval_time": f"{minute}m", "alertname": named(alert)[0], "exp_alerts": []}


def promtool(rules: Path, story: Story, test: dict) -> str:
    file = rules.with_name("story.test.yaml")
    content = {
        "rule_files": [rules.name],
        "evaluation_interval": f"{story.evaluation}s",
        "group_eval_order": ["airquality-exporter", "airquality-cities"],
        "tests": [{"interval": f"{story.interval}s", **test}],
    }
    file.write_text(json.dumps(content))
    command, environment = ["promtool", "test", "rules", file], {"TMPDIR": str(file.parent)}
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=os.environ | environment
    )
    return result.stdout + result.stderr


def test_promtool_accepts_the_rules():
    run("promtool", "check", "rules", "--lint-fatal", RULES)


def test_only_the_public_receiver_of_the_alertmanager_example_has_no_address():
    example = yaml.safe_load((ROOT / "docker/prometheus/alertmanager.yml").read_text())
    silent = [each["name"] for each in example["receivers"] if set(each) == {"name"}]
    assert silent == ["public"]


def test_rules_disable_the_series_check_of_pint_for_exactly_the_optional_metrics(start):
    exporter = start.exporter(
        "--feed.url=ws://127.0.0.1:1/", "--metrics.families=index", "--web.disable-exporter-metrics"
    )
    exposed = {sample.name for sample in parse_samples(exporter.scrape().text)}
    for text, rule in zip(RULES.read_text().split("- alert: ")[1:], ALERTS, strict=True):
        used = set(re.findall(r"\b(?:airquality|process)_\w+", rule["expr"]))
        assert set(re.findall(r"# pint disable promql/series\((\w+)\)", text)) == used - exposed


def test_every_alert_is_in_a_story():
    told = {named(alert) for story in STORIES for alert in story.alerts}
    assert told == {(rule["alert"], rule["labels"]["severity"]) for rule in ALERTS}


@pytest.mark.parametrize(
    "rule", ALERTS, ids=lambda rule: rule["alert"] + rule["labels"]["severity"]
)
def test_a_rule_has_a_summary_a_description_and_a_runbook_in_the_readme(rule):
    annotations = rule["annotations"]
    assert set(annotations) == {"summary", "description", "runbook"}
    assert "{{" not in annotations["summary"] and "{{" in annotations["description"]
    anchor = f"alert-{rule['alert'].lower()}"
    assert annotations["runbook"] == f"grafana/README.md#{anchor}"
    assert f'| <a id="{anchor}"></a>`{rule["alert"]}` |' in (ROOT / "grafana/README.md").read_text()
    is_public = rule["labels"].get("audience") == "public"
    assert is_public == (rule["labels"]["severity"] == "info")


def test_rendered_rules_link_to_their_runbooks_if_an_address_is_set(tmp_path):
    address = "https://git.example/a&b/grafana/README.md"
    run(ROOT / "grafana/rules/render", tmp_path, env=os.environ | {"RUNBOOK_URL": address})
    rendered = yaml.safe_load((tmp_path / RULES.name).read_text())
    rules = [rule for group in rendered["groups"] for rule in group["rules"]]
    for rule in rules:
        link = rule["annotations"]["runbook_url"]
        assert link == f"{address}#alert-{rule['alert'].lower()}"
