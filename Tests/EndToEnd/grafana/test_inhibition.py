"""What mutes what: the example for Alertmanager does what the README's table says."""

import itertools
import re

import pytest
import yaml

from grafana import rules
from grafana.dashboards import PROJECT

CONFIGURATION = yaml.safe_load((PROJECT / "docker/prometheus/alertmanager.yml").read_text())
ALERTS = [rule["alert"] for _, rule in rules.ALL if "alert" in rule]
LABELS = ("job", "shard", "feed", "city")


def fits(matcher: str, labels: dict[str, str]) -> bool:
    name, operator, value = re.fullmatch(r'(\w+)\s*(=~|!~|!=|=)\s*"?([^"]*)"?', matcher).groups()
    is_equal = re.fullmatch(value, labels.get(name, "")) if "~" in operator else labels.get(name, "") == value
    return bool(is_equal) != operator.startswith("!")


def is_muted(firing: dict[str, str], other: dict[str, str]) -> bool:
    """Whether Alertmanager sends nothing about one alert while another one fires; a missing label is an empty one."""
    return any(
        all(fits(each, firing) for each in rule["source_matchers"])
        and all(fits(each, other) for each in rule["target_matchers"])
        and all(firing.get(name, "") == other.get(name, "") for name in rule.get("equal", []))
        for rule in CONFIGURATION["inhibit_rules"]
    )


@pytest.mark.parametrize(
    "firing, other, muted",
    [
        (("ExporterDown", "j", "", ""), ("FeedUnstable", "j", "", "f"), True),
        (("ExporterDown", "j", "", ""), ("FeedUnstable", "other", "", "f"), False),
        (("ExporterDown", "j", "1", ""), ("FeedDown", "j", "1", "f"), True),
        (("ExporterDown", "j", "1", ""), ("FeedDown", "j", "2", "f"), False),
        # It has no shard of its own.
        (("ExporterDown", "j", "1", ""), ("ShardsMissing", "j", "", ""), True),
        (("ExporterDown", "j", "1", ""), ("ShardsMismatch", "j", "", ""), False),
        (("ExporterDown", "j", "", ""), ("ExporterDown", "j", "", ""), False),
        (("FeedSilent", "j", "", "f"), ("FeedUnstable", "j", "", "f"), True),
        (("FeedSilent", "j", "", "f"), ("FeedUnstable", "j", "", "g"), False),
        (("FeedDown", "j", "1", "f"), ("CitiesStale", "j", "", ""), True),
        (("FeedDown", "j", "", "f"), ("StorageFailing", "j", "", ""), False),
        (("SourceStale", "j", "", ""), ("CitiesStale", "j", "", ""), True),
        (("PollerFailing", "feed", "", ""), ("SourceStale", "j", "", ""), True),
        (("VeryPoor", "j", "", ""), ("Severe", "j", "", ""), False),
    ],
)  # fmt: skip
def test_alert_mutes_another(firing, other, muted):
    alerts = [{"alertname": f"AirQuality{name}", "job": job, "shard": shard, "feed": feed}
              for name, job, shard, feed in (firing, other)]  # fmt: skip
    assert is_muted(*alerts) == muted


def described() -> list[tuple[set[str], set[str], set[str]]]:
    """The rows of the table: alerts that fire, alerts that are muted, labels that are the same."""
    section = (PROJECT / "grafana/README.md").read_text().partition("| while this fires |")[2].partition("\n\n")[0]
    found = []
    for row in section.splitlines()[2:]:
        firing, muted, same = (cell.strip() for cell in row.strip("|").split("|"))
        names = set(re.findall(r"`(\w+)`", firing))
        others = set(ALERTS) - names if muted == "all others" else set(re.findall(r"`(\w+)`", muted))
        assert names | others <= set(ALERTS), row
        found.append((names, others, set(LABELS) & set(re.findall(r"\w+", same))))
    return found


def test_table_is_what_the_example_does():
    """For every two alerts, whichever of their labels differ."""
    table = described()
    assert len(table) == len(CONFIGURATION["inhibit_rules"])
    subsets = [set(each) for size in range(len(LABELS) + 1) for each in itertools.combinations(LABELS, size)]
    for firing, other, differ in itertools.product(ALERTS, ALERTS, subsets):
        wanted = any(firing in names and other in others and not same & differ for names, others, same in table)
        labels = dict.fromkeys(LABELS, "a")
        found = is_muted({"alertname": firing} | labels, {"alertname": other} | labels | dict.fromkeys(differ, "b"))
        assert found == wanted, f"{firing} and {other}, which differ in {differ}"
