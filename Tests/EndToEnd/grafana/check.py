"""All checks of grafana/, group by group. Ends with `N passed, N failed, N skipped`; status 1 when one failed."""

import shutil
import sys

import exposition
import history
import linter
import live
import provisioning
import queries
import rules
import scale
import structure
from checks import Checks
from dashboards import GRAFANA, read_dashboards
from foundation_types import check_types
from seeded_faults import check_faults

total = Checks()


def group(title: str, checks: Checks) -> None:
    mark = "FAIL" if checks.complaints else "skip" if checks.skips and not checks.passed else "ok  "
    print(
        f"{mark}  {title}: {checks.passed} passed, {len(checks.complaints)} failed, {len(checks.skips)} skipped",
        flush=True,
    )
    for complaint in checks.complaints + checks.skips:
        print(f"      {complaint}", flush=True)
    total.add(checks)


def skipped(reason: str) -> Checks:
    checks = Checks()
    checks.skip(reason)
    return checks


def check_live(dashboards: dict[str, dict]) -> None:
    with live.stack() as running:
        page = running.metrics()
        table = scale.categories(exposition.parse(page))
        checkers = {
            "metrics": lambda each: queries.check_metrics(each, page, rules.recorded()),
            "scale": lambda each: scale.check_scale(each, table),
            "queries": lambda each: queries.check_queries(each, running),
            "history": lambda each: history.check_history(each, running),
        }
        group("metrics and flags named under grafana/ exist", queries.check_names(page, running.help))
        group("metrics in queries are exposed or recorded", checkers["metrics"](dashboards))
        group("names, boundaries, colours and faces are the exporter's", checkers["scale"](dashboards))
        group("queries, variables and annotations against Prometheus", checkers["queries"](dashboards))
        group("rules in a running Prometheus", queries.check_rules(running))
        group("history document through the Infinity data source", checkers["history"](dashboards))
        group("seeded faults against the running programs", check_faults(dashboards, checkers))


def main() -> int:
    dashboards = read_dashboards()
    checkers = {"types": check_types, "structure": structure.check_structure, "linter": linter.check_linter_rules}
    group("types and enumerations of the foundation SDK", check_types(dashboards))
    group("structure, links, transformations, overrides", structure.check_structure(dashboards))
    group("rules of dashboard-linter", linter.check_linter_rules(dashboards))
    group("format of the files", structure.check_format(GRAFANA / "dashboards", dashboards))
    group("provisioning", provisioning.check_provisioning(dashboards))
    group("seeded faults in the files", check_faults(dashboards, checkers))
    if shutil.which("promtool"):
        group("rules and their unit tests", rules.check_rules())
        group("changed rules are noticed by their unit tests", rules.check_mutants())
    else:
        group("rules and their unit tests", skipped("no promtool: install Debian's package prometheus"))
    if shutil.which("prometheus"):
        try:
            check_live(dashboards)
        except live.Failed as error:
            failed = Checks()
            failed.that(False, str(error))
            group("the running programs", failed)
    else:
        group("the running programs", skipped("no prometheus: install Debian's package prometheus"))
    print(f"{total.passed} passed, {len(total.complaints)} failed, {len(total.skips)} skipped")
    return 1 if total.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
