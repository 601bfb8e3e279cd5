"""Recording and alert rules: promtool's checks and unit tests, and proof that those tests can fail."""

import copy
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from checks import Checks
from dashboards import GRAFANA, PROJECT

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


def check_rules() -> Checks:
    checks = Checks()
    for path in sorted(RULES.glob("*.yaml")):
        result = promtool("check", "rules", "--lint-fatal", path)
        checks.that(result.returncode == 0, f"promtool check rules {path.name}: {result.stdout}{result.stderr}")
        for rule in rules_of(read(path), "record"):
            good = re.fullmatch(r"[a-z_]+:[a-z_]+:[a-z0-9_]+", rule["record"])
            checks.that(good, f"{rule['record']} is not level:metric:operations")
        for rule in rules_of(read(path), "alert"):
            check_alert(checks, rule)
    for path in sorted((RULES / "tests").glob("*.yaml")):
        result = promtool("test", "rules", path)
        checks.that(result.returncode == 0, f"promtool test rules {path.name}: {result.stdout}{result.stderr}")
    check_cases(checks)
    check_runbooks(checks)
    return checks


def check_alert(checks: Checks, rule: dict) -> None:
    name, texts = rule["alert"], rule.get("annotations", {})
    checks.that(re.fullmatch(r"AirQuality([A-Z][a-z]+)+", name), f"{name}: not in the form AirQualityFeedDown")
    checks.that(rule.get("labels", {}).get("severity") in SEVERITIES, f"{name}: severity {rule.get('labels')}")
    checks.that(
        texts.get("summary") and "{{" not in texts["summary"], f"{name}: the summary must be the same for all series"
    )
    checks.that("{{" in texts.get("description", ""), f"{name}: the description must say which one")
    wanted = f"README.md#alert-{name.lower()}"
    checks.that(
        texts.get("runbook_url") == wanted, f"{name}: runbook_url {texts.get('runbook_url')!r}, expected {wanted}"
    )


def check_cases(checks: Checks) -> None:
    """Each alert is tried where it must be silent and where it must fire; each recording rule is tried at all."""
    silent, firing, tried = set(), set(), ""
    for path in (RULES / "tests").glob("*.yaml"):
        tried += path.read_text()
        for test in read(path)["tests"]:
            for case in test.get("alert_rule_test", []):
                (firing if case["exp_alerts"] else silent).add(case["alertname"])
    for path in RULES.glob("*.yaml"):
        for rule in rules_of(read(path), "alert"):
            checks.that(rule["alert"] in silent, f"{rule['alert']}: no test where it must not fire yet")
            checks.that(rule["alert"] in firing, f"{rule['alert']}: no test where it must fire")
        for rule in rules_of(read(path), "record"):
            checks.that(
                f"expr: {rule['record']}" in tried or f"({rule['record']}" in tried, f"{rule['record']}: no test"
            )


def check_runbooks(checks: Checks) -> None:
    readme = PROJECT / "README.md"
    if not readme.exists():
        checks.skip("runbooks: there is no README.md to look into")
        return
    headings = {
        re.sub(r"[^\w -]", "", each).strip().lower().replace(" ", "-")
        for each in re.findall(r"^#+ (.+)$", readme.read_text(), re.MULTILINE)
    }
    for path in RULES.glob("*.yaml"):
        for rule in rules_of(read(path), "alert"):
            anchor = rule["annotations"]["runbook_url"].split("#")[1]
            checks.that(anchor in headings, f"README.md has no heading 'Alert {rule['alert']}'")


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


def check_mutants() -> Checks:
    """The unit tests notice when a rule is changed."""
    checks = Checks()
    for path in sorted(RULES.glob("*.yaml")):
        test = RULES / "tests" / path.name.replace(".yaml", ".test.yaml")
        content = read(path)
        with tempfile.TemporaryDirectory(prefix="airquality-rules-") as directory:
            changed, changed_test = Path(directory) / path.name, Path(directory) / "tests" / test.name
            changed_test.parent.mkdir()
            changed_test.write_text(test.read_text())
            for group, section in enumerate(content["groups"]):
                for index, rule in enumerate(section["rules"]):
                    for what, mutant in mutants(rule):
                        mutated = copy.deepcopy(content)
                        mutated["groups"][group]["rules"][index] = mutant
                        changed.write_text(yaml.safe_dump(mutated, allow_unicode=True))
                        valid = promtool("check", "rules", changed).returncode == 0
                        failed = promtool("test", "rules", changed_test).returncode != 0
                        name = rule.get("alert") or rule.get("record")
                        checks.that(valid, f"{name} {what}: the mutant itself is malformed")
                        checks.that(failed, f"{name} {what}: no test notices")
    return checks
