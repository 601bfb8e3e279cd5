"""Stories: classes whose tests are the steps of one scenario."""

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and item.get_closest_marker("story"):
        item.parent.broken = getattr(item.parent, "broken", item.name)
    return report


def pytest_runtest_setup(item):
    """After the first step that fails, the others would only report the same fault."""
    if broken := getattr(item.parent, "broken", None):
        pytest.skip(f"{broken} failed")
