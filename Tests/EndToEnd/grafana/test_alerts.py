"""Stories of hours and days, told to the alert rules with promtool: each alert is true, none is missing, none comes twice."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from grafana.simulation import HOUR, Exporter, except_for, input_series, steady

ROOT = Path(__file__).resolve().parents[3]
RULES = ROOT / "grafana/rules/airquality.alerts.yaml"
ALERTS = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
DAY = 24 * 60

pytestmark = pytest.mark.skipif(
    not shutil.which("promtool"), reason="no promtool: install Debian's package prometheus"
)


@dataclass
class Story:
    """What happens within so many minutes, and how often each alert begins to fire: the name without `AirQuality`."""

    name: str
    minutes: int
    exporters: list[Exporter]
    alerts: dict[str, int] = field(default_factory=dict)
    # Minute → names of the alerts that fire then.
    firing: dict[float, set[str]] = field(default_factory=dict)
    # Said by the description of an alert in the first of those minutes.
    says: str = ""

    @property
    def interval(self) -> int:
        """Between scrapes, and evaluations: promtool takes 10,000 samples a query."""
        return 30 if self.minutes <= 200 else 120


def hourly(second: int) -> bool:
    return second % HOUR == 0


def crash_loop(second: int) -> bool:
    """Runs for 40 seconds of each minute, from the 60th minute to the 120th."""
    return not 60 <= second / 60 < 120 or second % 60 < 40


def slow_crash_loop(second: int) -> bool:
    """Runs for 30 seconds of every five minutes, as Kubernetes restarts it."""
    return not 60 <= second / 60 < 150 or second % 300 < 30


def one_stops(second: int) -> dict[str, float | None]:
    return {"Delhi": 150} if second >= 60 * 60 else {"Delhi": 150, "Pune": 80}


def every_second_one_a_heartbeat(second: int) -> dict[str, float | None]:
    return {"Delhi": 150, "Pune": 80} if second // 30 % 2 else {}


def empty_for_two_hours(second: int) -> dict[str, float | None]:
    return {} if HOUR <= second < 3 * HOUR else {"Delhi": 150, "Pune": 80}


def silent_for_an_hour(second: int) -> dict[str, float | None] | None:
    return None if HOUR <= second < 2 * HOUR else {"Delhi": 150}


def silent_from_the_second_hour(second: int) -> dict[str, float | None] | None:
    return None if HOUR <= second else {"Delhi": 150}


def another_format(second: int) -> dict[str, float | None] | str:
    return "not_an_array" if HOUR <= second < 2 * HOUR else {"Delhi": 150}


def to_very_poor_and_back(second: int) -> dict[str, float | None]:
    """Rises and falls like the demo, once in six hours, between Poor and Severe for Delhi; Pune stays Good."""
    return {"Delhi": 320 + 100 * (1 - abs(second / HOUR % 6 - 3) / 1.5), "Pune": 40}


def on_the_boundary(second: int) -> dict[str, float | None]:
    return {"Delhi": 298 if second // 30 % 3 == 0 else 303}


STORIES = [
    Story("the demo for a day", DAY, [Exporter(every=3, message=to_very_poor_and_back)],
          alerts={"VeryPoor info": 4, "Severe info": 4}),
    Story("hourly data for a day", DAY, [Exporter(every=HOUR)]),
    Story("hourly data that takes up to two hours to come", DAY, [Exporter(every=2 * HOUR)]),
    Story("hourly data with an idle time-out of a minute", DAY, [Exporter(every=HOUR, idle_timeout=60)]),
    Story("a feed that is paused every other minute", 150, [Exporter(every=5, is_paused=lambda s: s // 60 % 2 > 0)]),
    Story("a feed that is paused for an hour", 150, [Exporter(is_paused=lambda s: HOUR <= s < 2 * HOUR)]),
    Story("heartbeats every second message", 4 * 60, [Exporter(message=every_second_one_a_heartbeat)]),
    Story("a station without a value", 4 * 60, [Exporter(message=lambda _: {"Delhi": 150, "Agra": None})]),
    Story("a feed that is away for a minute", 90, [Exporter(is_feed_up=except_for((60, 61)))]),
    Story("a feed that is away for ten minutes", 120, [Exporter(is_feed_up=except_for((60, 70)))],
          alerts={"FeedDown warning": 1}, firing={65: {"FeedDown warning"}, 80: set()},
          says="a:10025 of the job air-quality-exporter is not connected to the feed ws://feed/"),
    Story("a feed that is away for an hour", 150, [Exporter(is_feed_up=except_for((60, 120)))],
          alerts={"FeedDown warning": 1, "FeedDown critical": 1},
          firing={70: {"FeedDown warning"}, 110: {"FeedDown warning", "FeedDown critical"}, 130: set()}),
    Story("an hourly feed that is away for five hours", 16 * 60,
          [Exporter(every=HOUR, is_feed_up=except_for((130, 430)))],
          alerts={"FeedDown warning": 1, "FeedDown critical": 1}, firing={440: set()}),
    Story("a feed that crashes twice a minute", 160,
          [Exporter(is_feed_up=lambda second: not 3600 <= second < 7200 or second % 30 < 20, every=5)],
          alerts={"FeedUnstable warning": 1}, firing={90: {"FeedUnstable warning"}, 140: set()},
          says="times to the feed ws://feed/ within 15 minutes"),
    Story("a feed that ends its connection after each hour's message", 10 * 60,
          [Exporter(every=HOUR, is_feed_up=lambda second: second % HOUR < 3590)]),
    Story("a feed that falls silent for an hour", 180, [Exporter(message=silent_for_an_hour)],
          alerts={"FeedSilent warning": 1}, firing={100: {"FeedSilent warning"}, 140: set()},
          says="is connected to the feed ws://feed/, but no message has come"),
    Story("a feed that falls silent for good", 14 * 60, [Exporter(message=silent_from_the_second_hour)],
          alerts={"FeedSilent warning": 1}, firing={14 * 60: {"FeedSilent warning"}}),
    Story("a feed that never sends anything", 600, [Exporter(message=lambda _: None)],
          alerts={"FeedSilent warning": 1}, firing={110: set(), 500: {"FeedSilent warning"}}),
    Story("an exporter that is away for a minute", 90, [Exporter(is_running=except_for((60, 61)))]),
    Story("an exporter that is away for ten minutes", 120, [Exporter(is_running=except_for((60, 70)))],
          alerts={"ExporterDown critical": 1}, firing={67: {"ExporterDown critical"}, 80: set()},
          says="Prometheus cannot scrape a:10025"),
    Story("an exporter that is away for 30 hours", 32 * 60, [Exporter(is_running=except_for((60, 31 * 60)))],
          alerts={"ExporterDown critical": 1}, firing={30 * 60: {"ExporterDown critical"}, 31 * 60 + 30: set()}),
    Story("an exporter that crashes each minute", 180, [Exporter(is_running=crash_loop)],
          alerts={"ExporterRestarting warning": 1},
          firing={90: {"ExporterRestarting warning"}, 150: set()}, says="has restarted"),
    Story("an exporter that crashes every five minutes", 200, [Exporter(is_running=slow_crash_loop)],
          alerts={"ExporterDown critical": 1}, firing={120: {"ExporterDown critical"}, 170: set()}),
    Story("a new instance of a job that never comes up", 120, [
        Exporter(is_target=except_for((60, 10_000))),
        Exporter(instance="b:10025", is_running=except_for((0, 10_000)), is_target=except_for((0, 60)))],
          alerts={"ExporterDown critical": 1}, firing={100: {"ExporterDown critical"}},
          says="Prometheus cannot scrape b:10025"),
    Story("the only job is removed", 180, [Exporter(is_target=except_for((60, 150)))],
          alerts={"ExporterMissing warning": 1}, firing={70: {"ExporterMissing warning"}, 160: set()},
          says="its service discovery or scrape configuration finds none"),
    Story("one job of two is removed", 180, [
        Exporter(job="prod", is_target=except_for((60, 10_000))), Exporter(job="staging", instance="b:10025")],
          alerts={"ExporterMissing warning": 1}, firing={70: {"ExporterMissing warning"}, 130: set()},
          says="The job prod has no targets any more"),
    Story("two releases with one feed down", 120, [
        Exporter(job="prod", is_feed_up=except_for((60, 10_000)), message=steady("Delhi")),
        Exporter(job="staging", instance="b:10025", message=steady("Delhi"))],
          alerts={"FeedDown warning": 1, "FeedDown critical": 1},
          firing={100: {"FeedDown warning", "FeedDown critical"}}, says="a:10025 of the job prod is not connected"),
    Story("one city of two that stops", 12 * 60, [Exporter(message=one_stops)],
          # Until it expires.
          alerts={"CityStale warning": 1}, firing={90: {"CityStale warning"}, 11 * 60: set()},
          says="Pune has had no reading for"),
    Story("one city of two that stops, of hourly data", 20 * 60, [
        Exporter(every=HOUR, message=lambda second: one_stops(second - 5 * HOUR))],
          alerts={"CityStale warning": 1}, firing={530: set(), 600: {"CityStale warning"}}),
    Story("nothing but [] for two hours", 300, [Exporter(message=empty_for_two_hours)],
          alerts={"CityStale warning": 2}, firing={90: {"CityStale warning"}, 190: set()}),
    Story("a feed that changes its format", 300, [Exporter(message=another_format)],
          alerts={"ReadingsRejected warning": 1, "CityStale warning": 1},
          firing={110: {"ReadingsRejected warning", "CityStale warning"}, 290: set()}, says="not_an_array"),
    Story("more cities than the limit", 120, [Exporter(message=lambda s: {"Delhi": 9} if s % 90 else "city_limit")],
          alerts={"ReadingsRejected warning": 1}, firing={60: {"ReadingsRejected warning"}},
          says="cities beyond --city.limit"),
    Story("a disk that is full for ten minutes", 120,
          [Exporter(is_storage_full=lambda second: 1800 <= second < 2400)],
          alerts={"StorageFailing warning": 1}, firing={45: {"StorageFailing warning"}, 80: set()},
          says="serves from memory"),
    Story("a configuration with a mistake", 120, [Exporter(is_configuration_bad=lambda s: 1800 <= s < 3600)],
          alerts={"ReloadFailed warning": 1}, firing={45: {"ReloadFailed warning"}, 70: set()},
          says="runs with its previous configuration"),
    Story("a city on the boundary of Very Poor", 6 * 60, [Exporter(message=on_the_boundary)],
          alerts={"VeryPoor info": 1}, firing={300: {"VeryPoor info"}}, says="Delhi is in the category Very Poor"),
    Story("very poor air and a feed that is away for a day", 26 * 60, [
        Exporter(is_feed_up=except_for((60, 25 * 60)), message=steady("Delhi", index=350))],
          alerts={"VeryPoor info": 2, "FeedDown warning": 1, "FeedDown critical": 1},
          firing={100: {"VeryPoor info", "FeedDown warning", "FeedDown critical"},
                  400: {"FeedDown warning", "FeedDown critical"}}),
]  # fmt: skip


@pytest.fixture(scope="module", params=["2.42", "3"])
def rules(request, tmp_path_factory) -> Path:
    """The rules; for Prometheus 3, whose ranges leave out their first moment, each shorter by a millisecond."""
    file = tmp_path_factory.mktemp("rules") / RULES.name
    text = RULES.read_text()
    if request.param == "3":
        milliseconds = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
        text = re.sub(r"\[(\d+)([mhd])\]", lambda found: f"[{int(found[1]) * milliseconds[found[2]] - 1}ms]", text)
    file.write_text(text)
    return file


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_story(story, rules):
    firing = 'ALERTS{alertstate="firing"}'
    step = f"{story.interval}s"
    begun = f"sum_over_time(({firing} unless {firing} offset {step})[{story.minutes}m:{step}])"
    checks = [check(f"sum by (alertname, severity) ({begun})", story.minutes, story.alerts)]
    for minute, names in story.firing.items():
        checks.append(check(f"group by (alertname, severity) ({firing})", minute, dict.fromkeys(names, 1)))
    series = input_series(story.exporters, story.minutes, story.interval)
    output = promtool(rules, story, {"input_series": series, "promql_expr_test": checks})
    assert "SUCCESS" in output, output
    if story.says:
        minute, names = next((minute, names) for minute, names in story.firing.items() if names)
        wrong = [silence(minute, name) for name in names]
        output = promtool(rules, story, {"input_series": series, "alert_rule_test": wrong})
        assert story.says in output
        assert "<error" not in output and "<no value>" not in output


def check(expression: str, minute: float, alerts: dict[str, int]) -> dict:
    samples = []
    for alert, value in alerts.items():
        name, severity = alert.split()
        samples.append({"labels": f'{{alertname="AirQuality{name}", severity="{severity}"}}', "value": value})
    return {"expr": expression, "eval_time": f"{int(minute * 60)}s", "exp_samples": samples}


def silence(minute: float, alert: str) -> dict:
    """Expects no such alert: promtool then says what it got, with all texts."""
    return {"eval_time": f"{int(minute * 60)}s", "alertname": "AirQuality" + alert.split()[0], "exp_alerts": []}


def promtool(rules: Path, story: Story, test: dict) -> str:
    file = rules.with_name("story.test.yaml")
    interval = f"{story.interval}s"
    content = {
        "rule_files": [rules.name],
        "evaluation_interval": interval,
        "group_eval_order": ["airquality-exporter", "airquality-cities"],
        "tests": [{"interval": interval, **test}],
    }
    file.write_text(json.dumps(content))
    environment = {**os.environ, "TMPDIR": str(file.parent)}
    result = subprocess.run(
        ["promtool", "test", "rules", file], capture_output=True, text=True, timeout=300, env=environment
    )
    return result.stdout + result.stderr


def test_promtool_accepts_the_rules():
    result = subprocess.run(["promtool", "check", "rules", "--lint-fatal", RULES], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_alert_is_in_a_story():
    told = {f"AirQuality{alert.split()[0]}" for story in STORIES for alert in story.alerts}
    assert told == {rule["alert"] for rule in ALERTS}


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: f"{rule['alert']}-{rule['labels']['severity']}")
def test_rule_says_what_happened_and_where_the_readme_tells_what_to_do(rule):
    annotations = rule["annotations"]
    assert set(annotations) == {"summary", "description", "runbook"}
    assert "{{" not in annotations["summary"] and "{{" in annotations["description"]
    anchor = f"alert-{rule['alert'].lower()}"
    assert annotations["runbook"] == f"grafana/README.md#{anchor}"
    assert f'| <a id="{anchor}"></a>`{rule["alert"]}` |' in (ROOT / "grafana/README.md").read_text()
    is_public = rule["labels"].get("audience") == "public"
    assert is_public == (rule["labels"]["severity"] == "info")


def test_runbooks_are_links_where_their_address_is_set(tmp_path):
    address = "https://git.example/a&b/grafana/README.md"
    environment = {**os.environ, "RUNBOOK_URL": address}
    subprocess.run([ROOT / "grafana/rules/render", tmp_path], check=True, env=environment)
    rendered = yaml.safe_load((tmp_path / RULES.name).read_text())
    links = {rule["annotations"]["runbook_url"] for group in rendered["groups"] for rule in group["rules"]}
    assert links == {f"{address}#alert-{rule['alert'].lower()}" for rule in ALERTS}
