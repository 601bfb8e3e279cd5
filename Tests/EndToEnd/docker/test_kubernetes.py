"""The manifests: rendered by kustomize, checked against the API's schemas, and every name they refer to is there."""

import copy
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

from docker.engine import REPOSITORY

BASE = REPOSITORY / "docker" / "kubernetes"
FILES = BASE / "base"
LIVE = BASE / "live"
DASHBOARDS = REPOSITORY / "grafana" / "dashboards"
RULES = REPOSITORY / "grafana" / "rules"

# The oldest version we promise (unhealthyPodEvictionPolicy is beta there), and what the schemas end with.
OLDEST = "1.27"

# https://prometheus-operator.dev/docs/api-reference/api/: the members that a typing error would fall out of.
OPERATOR_MEMBERS = {
    ("ServiceMonitor", "spec"): {"jobLabel", "selector", "endpoints", "namespaceSelector", "targetLabels", "sampleLimit"},
    ("ServiceMonitor", "endpoint"): {"port", "path", "interval", "scrapeTimeout", "scheme", "tlsConfig", "basicAuth"},
    ("PrometheusRule", "spec"): {"groups"},
    ("PrometheusRule", "group"): {"name", "interval", "rules", "limit", "query_offset", "labels"},
    ("PrometheusRule", "rule"): {"alert", "record", "expr", "for", "keep_firing_for", "labels", "annotations"},
}

# As one would write it for one's own cluster: the overlay of the README.
OVERLAY = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: monitoring
resources: [{base}]
images:
  - {{name: air-quality-exporter, newName: registry.example/air-quality-exporter, newTag: 1.0.0}}
configMapGenerator:
  - name: air-quality-exporter
    behavior: replace
    literals:
      - AIR_QUALITY_EXPORTER_FEED_URL=wss://feed.example/
"""


def kustomize(folder: pathlib.Path) -> list[dict]:
    result = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return list(yaml.safe_load_all(result.stdout))


def kustomize_is_here() -> bool:
    if not shutil.which("kubectl"):
        return False
    version = subprocess.run(["kubectl", "version", "--client", "-o", "json"], capture_output=True, text=True).stdout
    return json.loads(version or "{}").get("kustomizeVersion", "v0") >= "v4"


@pytest.fixture(scope="module")
def objects() -> list[dict]:
    if not kustomize_is_here():
        pytest.skip("no kubectl with kustomize 4 or newer here")
    return kustomize(BASE)


@pytest.fixture(scope="module")
def only(objects):
    """The one object of a kind."""

    def find(kind: str) -> dict:
        (found,) = of_kind(objects, kind)
        return found

    return find


def of_kind(objects: list[dict], kind: str) -> list[dict]:
    return [each for each in objects if each["kind"] == kind]


def test_kinds(objects):
    assert {each["kind"] for each in objects} == {
        "ConfigMap", "Deployment", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget", "PrometheusRule",
        "Service", "ServiceMonitor",
    }  # fmt: skip


@pytest.mark.parametrize("version", [OLDEST, kubernetes_validate.latest_version().rsplit(".", 1)[0]])
def test_schemas_accept_every_object(objects, version):
    own = [each for each in objects if "coreos.com" not in each["apiVersion"]]
    assert len(own) >= 10
    for each in own:
        kubernetes_validate.validate(each, version, strict=True)


def test_schemas_refuse_a_misspelt_member(only):
    deployment = copy.deepcopy(only("Deployment"))
    deployment["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, OLDEST, strict=True)


def test_objects_of_the_operator_have_known_members(objects, only):
    def unknown(kind: str, part: str, members: dict) -> set[str]:
        return set(members) - OPERATOR_MEMBERS[kind, part]

    monitor = only("ServiceMonitor")["spec"]
    assert not unknown("ServiceMonitor", "spec", monitor)
    for endpoint in monitor["endpoints"]:
        assert not unknown("ServiceMonitor", "endpoint", endpoint)
    for rules in of_kind(objects, "PrometheusRule"):
        assert not unknown("PrometheusRule", "spec", rules["spec"])
        for group in rules["spec"]["groups"]:
            assert not unknown("PrometheusRule", "group", group)
            for rule in group["rules"]:
                assert not unknown("PrometheusRule", "rule", rule)


def test_references_lead_somewhere(objects, only):
    names = {(each["kind"], each["metadata"]["name"]) for each in objects}
    pod = only("Deployment")["spec"]["template"]
    container = pod["spec"]["containers"][0]
    for source in container["envFrom"]:
        if "configMapRef" in source:
            assert ("ConfigMap", source["configMapRef"]["name"]) in names
        else:
            assert source["secretRef"]["optional"]
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    for mount in container["volumeMounts"]:
        assert ("PersistentVolumeClaim", volumes[mount["name"]]["persistentVolumeClaim"]["claimName"]) in names


def test_selectors_select_what_they_are_for(only):
    labels = only("Deployment")["spec"]["template"]["metadata"]["labels"]
    service = only("Service")
    for what, wanted, found in (
        ("Deployment", only("Deployment")["spec"]["selector"]["matchLabels"], labels),
        ("Service", service["spec"]["selector"], labels),
        ("PodDisruptionBudget", only("PodDisruptionBudget")["spec"]["selector"]["matchLabels"], labels),
        ("NetworkPolicy", only("NetworkPolicy")["spec"]["podSelector"]["matchLabels"], labels),
        ("ServiceMonitor", only("ServiceMonitor")["spec"]["selector"]["matchLabels"], service["metadata"]["labels"]),
    ):
        assert wanted.items() <= found.items(), what
    job = service["metadata"]["labels"][only("ServiceMonitor")["spec"]["jobLabel"]]
    assert job == "air-quality-exporter", "rules and dashboards select this job"


def test_ports_have_one_name(only):
    container = only("Deployment")["spec"]["template"]["spec"]["containers"][0]
    pod_ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert pod_ports == {"metrics": 10025}
    service_ports = {port["name"]: port["targetPort"] for port in only("Service")["spec"]["ports"]}
    assert set(service_ports.values()) <= set(pod_ports)
    for endpoint in only("ServiceMonitor")["spec"]["endpoints"]:
        assert endpoint["port"] in service_ports
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in pod_ports
    for rule in only("NetworkPolicy")["spec"]["ingress"]:
        assert {port["port"] for port in rule["ports"]} <= set(pod_ports)


def test_container_is_that_of_the_image(only):
    dockerfile = (REPOSITORY / "docker" / "Dockerfile").read_text()
    pod = only("Deployment")["spec"]["template"]["spec"]
    context = pod["securityContext"]
    assert f"USER {context['runAsUser']}:{context['runAsGroup']}\n" in dockerfile
    assert context["runAsNonRoot"]
    for mount in pod["containers"][0]["volumeMounts"]:
        assert f'VOLUME ["{mount["mountPath"]}"]' in dockerfile
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
    }  # fmt: skip


def test_dashboards_are_the_files(objects):
    rendered = {}
    for each in of_kind(objects, "ConfigMap"):
        if each["metadata"].get("labels", {}).get("grafana_dashboard") == "1":
            # kubectl apply keeps the whole object in an annotation, and annotations end at 256 KiB.
            assert len(json.dumps(each)) < 256 * 1024, each["metadata"]["name"]
            rendered |= each["data"]
    digest = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DASHBOARDS.glob("*.json")}
    assert {name: hashlib.sha256(text.encode()).hexdigest() for name, text in rendered.items()} == digest


def test_rules_are_those_of_the_files(objects):
    def canonical(rules: dict) -> str:
        return json.dumps(rules, sort_keys=True)

    rendered = sorted(canonical(rules["spec"]) for rules in of_kind(objects, "PrometheusRule"))
    assert rendered == sorted(canonical(yaml.safe_load(path.read_text())) for path in RULES.glob("*.yaml"))


def test_an_overlay_changes_feed_image_and_namespace(objects, tmp_path):
    base = os.path.relpath(BASE, os.path.realpath(tmp_path))
    (tmp_path / "kustomization.yaml").write_text(OVERLAY.format(base=base))
    changed = kustomize(tmp_path)
    assert {each["metadata"]["namespace"] for each in changed} == {"monitoring"}
    settings = [each["data"] for each in changed if each["metadata"]["name"].startswith("air-quality-exporter-")]
    assert settings == [{"AIR_QUALITY_EXPORTER_FEED_URL": "wss://feed.example/"}]
    (deployment,) = of_kind(changed, "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example/air-quality-exporter:1.0.0"


def test_generated_rules_are_up_to_date(tmp_path):
    made = tmp_path / "docker" / "kubernetes" / "base"
    made.mkdir(parents=True)
    shutil.copy(FILES / "render-rules", made)
    shutil.copytree(RULES, tmp_path / "grafana" / "rules")
    subprocess.run([made / "render-rules"], check=True)
    fresh = (made / "prometheus-rules.yaml").read_text()
    assert (FILES / "prometheus-rules.yaml").read_text() == fresh, "run docker/kubernetes/base/render-rules"


# MARK: Real air


@pytest.fixture(scope="module")
def live() -> dict[tuple[str, str], dict]:
    """The objects of the overlay by kind and name; the ConfigMap of the settings without its hash."""
    if not kustomize_is_here():
        pytest.skip("no kubectl with kustomize 4 or newer here")
    return {(each["kind"], re.sub(r"^(air-quality-exporter)-[a-z0-9]{10}$", r"\1", each["metadata"]["name"])): each
            for each in kustomize(LIVE)}  # fmt: skip


@pytest.mark.parametrize("version", [OLDEST, kubernetes_validate.latest_version().rsplit(".", 1)[0]])
def test_schemas_accept_the_overlay(live, version):
    own = [each for each in live.values() if "coreos.com" not in each["apiVersion"]]
    assert len(own) >= 14
    for each in own:
        kubernetes_validate.validate(each, version, strict=True)


def test_overlay_is_the_base_with_a_bridge(objects, live):
    base = {(each["kind"], re.sub(r"^(air-quality-exporter)-[a-z0-9]{10}$", r"\1", each["metadata"]["name"]))
            for each in objects}  # fmt: skip
    assert set(live) - base == {
        ("Deployment", "air-quality-feed"), ("Service", "air-quality-feed"), ("NetworkPolicy", "air-quality-feed"),
        ("NetworkPolicy", "air-quality-exporter-to-feed"),
    }  # fmt: skip
    assert base <= set(live)


def test_exporter_reads_the_bridge(live):
    settings = live["ConfigMap", "air-quality-exporter"]["data"]
    service = live["Service", "air-quality-feed"]
    (port,) = service["spec"]["ports"]
    assert settings["AIR_QUALITY_EXPORTER_FEED_URL"] == f"ws://{service['metadata']['name']}:{port['port']}/"
    assert settings["AIR_QUALITY_EXPORTER_FEED_TIME_FIELD"] == "time"
    assert settings["AIR_QUALITY_EXPORTER_FEED_POLLUTANTS_FIELD"] == "pollutants"
    template = live["Deployment", "air-quality-feed"]["spec"]["template"]
    (container,) = template["spec"]["containers"]
    labels = template["metadata"]["labels"]
    exporter = live["Deployment", "air-quality-exporter"]["spec"]["template"]
    # The name of the Service's port, the pods that it selects, and the policies on both sides.
    assert {each["name"]: each["containerPort"] for each in container["ports"]} == {port["targetPort"]: port["port"]}
    assert f"--listen=0.0.0.0:{port['port']}" in container["args"]
    assert service["spec"]["selector"] == labels
    assert live["Deployment", "air-quality-feed"]["spec"]["selector"]["matchLabels"] == labels
    into, out = live["NetworkPolicy", "air-quality-feed"], live["NetworkPolicy", "air-quality-exporter-to-feed"]
    assert into["spec"]["podSelector"]["matchLabels"] == labels
    (ingress,) = into["spec"]["ingress"]
    (egress,) = out["spec"]["egress"]
    assert ingress["from"][0]["podSelector"]["matchLabels"].items() <= exporter["metadata"]["labels"].items()
    assert out["spec"]["podSelector"]["matchLabels"].items() <= exporter["metadata"]["labels"].items()
    assert egress["to"] == [{"podSelector": {"matchLabels": labels}}]
    assert ingress["ports"] == egress["ports"] == [{"port": port["targetPort"]}]
    # Nothing else is scraped or selected as an exporter.
    assert live["Service", "air-quality-exporter"]["spec"]["selector"].items() - labels.items()
    assert service["metadata"]["labels"]["app.kubernetes.io/name"] == "air-quality-feed"


def test_bridge_is_the_image_s_with_the_exporter_s_rights(live, programs):
    exporter, bridge = (
        live["Deployment", name]["spec"]["template"]["spec"] for name in ("air-quality-exporter", "air-quality-feed")
    )
    assert bridge["containers"][0]["image"] == exporter["containers"][0]["image"]
    assert bridge["containers"][0]["securityContext"] == exporter["containers"][0]["securityContext"]
    for member in ("runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile"):
        assert bridge["securityContext"][member] == exporter["securityContext"][member]
    container = bridge["containers"][0]
    taken = programs.run(*container["command"], *container["args"], "--version")
    assert taken.process.returncode == 0, taken.errors
    settings = live["ConfigMap", "air-quality-exporter"]["data"]
    assert programs.run("air-quality-exporter", "--config.check", environment=settings).output == ["configuration is valid"]
