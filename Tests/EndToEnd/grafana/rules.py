"""Recording and alert rules: promtool's checks and unit tests, and proof that those tests can fail."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from grafana.complaints import Complaints
from grafana.dashboards import GRAFANA, PROJECT

RULES = GRAFANA / "rules"
SEVERITIES = {"critical", "warning", "info"}


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text())


def rules_of(content: dict, kind: str) -> list[dict]:
    return [rule for group in content["groups"] for rule in group["rules"] if kind in rule]


def recorded() -> set[str]:
    return {rule["record"] for path in RULES.glob("*.yaml") for rule in rules_of(read(path), "record")}


def promtool(*arguments: str | Path, tries: int = 3) -> subprocess.CompletedProcess[str]:
    """promtool 2.42 was once seen not to end on a busy machine. A run takes a second, so a stuck one is tried again."""
    with tempfile.TemporaryDirectory(prefix="airquality-promtool-") as own:
        command, environment = ["promtool", *arguments], {**os.environ, "TMPDIR": own}
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        except subprocess.TimeoutExpired:
            if tries == 1:
                raise
    return promtool(*arguments, tries=tries - 1)


FILES = sorted([*RULES.glob("*.yaml"), *RULES.glob("optional/*.yaml")])
TESTS = sorted((RULES / "tests").glob("*.yaml"))
#: Every rule with the file that it stands in.
ALL = [(path, rule) for path in FILES for kind in ("record", "alert") for rule in rules_of(read(path), kind)]


def name_of(rule: dict) -> str:
    return rule.get("alert") or rule["record"]


def check_rule(rule: dict) -> Complaints:
    complaints = Complaints()
    if "alert" in rule:
        check_alert(complaints, rule)
    else:
        good = re.fullmatch(r"[a-z_]+:[a-z_]+:[a-z0-9_]+", rule["record"])
        complaints.that(good, f"{rule['record']} is not level:metric:operations")
    check_cases(complaints, rule)
    return complaints


def check_alert(complaints: Complaints, rule: dict) -> None:
    name, texts = rule["alert"], rule.get("annotations", {})
    complaints.that(re.fullmatch(r"AirQuality([A-Z][a-z]+)+", name), f"{name}: not in the form AirQualityFeedDown")
    complaints.that(rule.get("labels", {}).get("severity") in SEVERITIES, f"{name}: severity {rule.get('labels')}")
    complaints.that(
        texts.get("summary") and "{{" not in texts["summary"], f"{name}: the summary must be the same for all series"
    )
    complaints.that("{{" in texts.get("description", ""), f"{name}: the description must say which one")
    wanted = f'grafana/README.md, "Alert {name}"'
    complaints.that(texts.get("runbook") == wanted, f"{name}: runbook {texts.get('runbook')!r}, expected {wanted}")
    complaints.that("runbook_url" not in texts, f"{name}: a runbook_url without an address to begin with")
    about_air = rule["labels"].get("audience") == "public"
    complaints.that(not (about_air and rule["labels"]["severity"] == "critical"), f"{name}: pages somebody about the air")
    complaints.that("job=" not in rule["expr"], f"{name}: names a job")


def check_cases(complaints: Complaints, rule: dict) -> None:
    """An alert is tried where it must be silent and where it must fire; a recording rule is tried at all."""
    texts = [path.read_text() for path in TESTS]
    if "record" in rule:
        name = rule["record"]
        tried = any(f"expr: {name}" in text or f"({name}" in text for text in texts)
        complaints.that(tried, f"{name}: no test")
        return
    cases = [case for text in texts for test in yaml.safe_load(text)["tests"] for case in test.get("alert_rule_test", [])]
    own = [case for case in cases if case["alertname"] == rule["alert"]]
    complaints.that(any(not case["exp_alerts"] for case in own), f"{rule['alert']}: no test where it must not fire yet")
    complaints.that(any(case["exp_alerts"] for case in own), f"{rule['alert']}: no test where it must fire")


def anchors() -> set[str]:
    """The anchors of the README's headings."""
    headings = re.findall(r"^#+ (.+)$", (PROJECT / "grafana" / "README.md").read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each).strip().lower().replace(" ", "-") for each in headings}


def mutants(rule: dict) -> Iterator[tuple[str, dict]]:
    """What a slip of the hand could make of a rule."""
    yield "never true", {**rule, "expr": "vector(0) > 1"}
    if "record" in rule:
        return
    yield "always true", {**rule, "expr": "vector(1)"}
    for key in ("for", "keep_firing_for"):
        if key in rule:
            yield f"without {key}", {name: value for name, value in rule.items() if name != key}
    thresholds = re.findall(r"(?<=[<>=] )\d+(?:\.\d+)?(?=\s|$|\))", rule["expr"])
    for number in sorted(set(thresholds)):
        other = f"{float(number) * 3 + 2:g}"
        changed = re.sub(rf"(?<=[<>=] ){re.escape(number)}(?=\s|$|\))", other, rule["expr"])
        yield f"with {other} for {number}", {**rule, "expr": changed}


def check_mutants(path: Path, rule: dict) -> Complaints:
    """The unit tests notice when the rule is changed."""
    complaints = Complaints()
    content = read(path)
    kind = "alerts" if "alert" in rule else "recording"
    test = RULES / "tests" / f"airquality.{kind}.test.yaml"
    text = test.read_text()
    if "alert" in rule:
        # No other alert has a part in it, and only the cases that try it can notice: a tenth of the time.
        content["groups"] = [{"name": "changed", "rules": [rule]}]
        # As texts: 0x20 is a series for promtool, and a number for YAML.
        tests = yaml.load(text, yaml.BaseLoader)
        tests["rule_files"] = [str(RULES / "airquality.recording.yaml"), f"../{path.name}"]
        tests["tests"] = [
            {**each, "alert_rule_test": own}
            for each in tests["tests"]
            if (own := [case for case in each.get("alert_rule_test", []) if case["alertname"] == rule["alert"]])
        ]
        text = yaml.safe_dump(tests, allow_unicode=True)
    group, index = next(
        (group, group["rules"].index(rule)) for group in content["groups"] if rule in group["rules"]
    )
    with tempfile.TemporaryDirectory(prefix="airquality-rules-") as directory:
        changed, changed_test = Path(directory) / path.name, Path(directory) / "tests" / test.name
        changed_test.parent.mkdir()
        changed_test.write_text(text)
        changed.write_text(yaml.safe_dump(content, allow_unicode=True))
        unchanged = promtool("test", "rules", changed_test)
        complaints.that(unchanged.returncode == 0, f"{name_of(rule)} as it is: {unchanged.stdout}{unchanged.stderr}")
        for what, mutant in mutants(rule):
            group["rules"][index] = mutant
            changed.write_text(yaml.safe_dump(content, allow_unicode=True))
            valid = promtool("check", "rules", changed).returncode == 0
            failed = promtool("test", "rules", changed_test).returncode != 0
            complaints.that(valid, f"{name_of(rule)} {what}: the mutant itself is malformed")
            complaints.that(failed, f"{name_of(rule)} {what}: no test notices")
    return complaints
