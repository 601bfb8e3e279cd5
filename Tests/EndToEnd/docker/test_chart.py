"""The Helm chart, rendered by Helm's own engine: Kubernetes and the exporter accept it, and
releases run side by side."""

import json
import os
import re
import shutil
import tarfile

import helm_python
import helm_python.chart
import kubernetes_validate
import pytest
import yaml

from docker.engine import REPOSITORY
from docker.rendered import (
    CHART,
    OPERATOR,
    container,
    files,
    kustomized,
    of_kind,
    only,
    packaged,
    release,
    settings,
)
from support.certificates import CertificateAuthority
from support.commands import run
from support.web_configuration import expect_success, tls

#: The oldest version that the chart supports, and the newest whose schemas are here.
VERSIONS = ["1.27", kubernetes_validate.latest_version().rsplit(".", 1)[0]]

GRAFANA = REPOSITORY / "grafana"
KUSTOMIZATION = REPOSITORY / "docker/kubernetes"
OWN_OBJECT = {"apiVersion": "v1", "kind": "ConfigMap"} | {
    "metadata": {"name": "{{ .Release.Name }}-mine"}
}

DEMO = {"feed": {"demo": True}}

#: Values that are rendered differently.
VALUES: dict[str, dict] = {
    "demo": DEMO,
    "feed": {"feed": {"urls": ["wss://feed.example/", "ws://other.example/"]}},
    "real air": {"feed": {"poll": {"enabled": True}}, "networkPolicy": {"enabled": True}},
    "replicas": {
        "replicas": 2,
        "feed": {"urls": ["wss://feed.example/"]},
        "minReadySeconds": 10,
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"},
            {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname"}
            | {"whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"a": "b"}}},
        ],
    },
    "several pages": {
        "feed": {"poll": {"enabled": True}},
        "replicas": 2,
        "ingress": {"enabled": True, "hosts": ["air.example"]},
    },
    "policy of a cluster": DEMO
    | {
        "securityContext": {"runAsNonRoot": True, "readOnlyRootFilesystem": None},
        "podSecurityContext": {"seccompProfile": None},
        "serviceAccount": {"name": "ours"},
    },
    "bare": DEMO
    | {
        "storage": {"enabled": False},
        "readinessProbe": {},
        "dashboards": {"enabled": False},
        "rules": {"enabled": False},
        "serviceMonitor": {"enabled": False},
    },
    "feeds of their own": {
        "feed": {"list": [{"url": "wss://me:secret@one.example:8443/", "jq": ".data[]"}]},
        "networkPolicy": {"enabled": True},
    },
    "a poller with a key": {
        "feed": {
            "poll": {
                "enabled": True,
                "flags": {"source": "waqi", "set": "capitals", "index": "us"},
                "existingSecret": "key",
                "resources": {},
            }
        },
        "settings": {"aqi.scale": "us", "web.telemetry-path": "/page"},
        "fullnameOverride": "aqi",
        "image": {"tag": "2.0.0", "pullPolicy": "Always"},
        "networkPolicy": {
            "enabled": True,
            "monitoringNamespace": "prometheus",
            "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": "metrics"}]}],
        },
        "ingress": {
            "enabled": True,
            "annotations": {"i": "j"},
            "hosts": ["air.example", "aqi.example"],
            "tls": [{"secretName": "air-tls", "hosts": ["air.example"]}],
        },
    },
    "monitored by an operator that Helm cannot see": DEMO
    | {
        "serviceMonitor": {"enabled": True, "interval": "5s", "scrapeTimeout": "3s"},
        "rules": {"enabled": True, "alerts": {"AirQualitySevere": {"enabled": False}}},
        "dashboards": {"enabled": True, "annotations": {"k": "l"}},
        "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}},
        "tests": {"resources": {}},
    },
    "feed in a secret": {"existingSecret": "mine", "networkPolicy": {"enabled": True}},
    "a password that is no URL": {
        "secrets": {"feed.url": "ws://me:p^ss@host:81/\nwss://host/100%"},
        "networkPolicy": {"enabled": True},
    },
    "all": {
        "image": {"repository": "registry.example/aqi", "digest": f"sha256:{'0' * 64}"},
        "imagePullSecrets": [{"name": "registry"}],
        "settings": {
            "web.config.file": "/etc/web/web.yml",
            "city.limit": 1000000,
            "feed.subscribe": ["one", "two"],
            "web.enable-lifecycle": True,
        },
        "secrets": {"feed.url": "wss://me:secret@feed.example/"},
        "probeScheme": "HTTPS",
        "livenessProbe": {"tcpSocket": {"port": "metrics"}},
        "storage": {"storageClassName": "fast", "size": "1Gi", "existingClaim": "mine"},
        "podAnnotations": {"a": "b"},
        "podLabels": {"team": "air"},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "k", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
        "priorityClassName": "high",
        "extraVolumes": [{"name": "web", "secret": {"secretName": "web"}}],
        "extraVolumeMounts": [{"name": "web", "mountPath": "/etc/web"}],
        "extraArgs": ["--log.level=debug"],
        "extraEnv": [{"name": "TZ", "value": "UTC"}],
        "extraObjects": [OWN_OBJECT],
        "service": {"annotations": {"c": "d"}},
        "networkPolicy": {"enabled": True, "egress": [{"ports": [{"port": 9}]}]},
        "serviceMonitor": {"labels": {"release": "p"}, "endpoint": {"scheme": "https"}},
        "rules": {"labels": {"release": "p"}, "runbookUrl": "https://git.example/README.md"},
        "commonLabels": {"owner": "us"},
        "commonAnnotations": {"g": "h"},
        "revisionHistoryLimit": 2,
        "serviceAccount": {"create": True, "annotations": {"e": "f"}},
        "ingress": {"enabled": True, "className": "nginx", "hosts": ["air.example"]},
        "dashboards": {"namespace": "grafana", "folder": "Air", "labels": {"boards": "yes"}},
    },
}
each_case = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)


# MARK: What Helm and Kubernetes accept


@each_case
def test_helm_lint_finds_nothing_in_the_chart(values):
    for chart in (CHART, packaged()):
        report = helm_python.chart.lint(chart, values, strict=True)
        assert (report["errors"], report["messages"]) == ([], [])


@each_case
def test_the_schemas_of_kubernetes_accept_every_object(values):
    objects = [*release(values), *release(values, tests=True), *release(values, versions=())]
    for each in objects:
        if "coreos.com" not in each["apiVersion"]:
            for version in VERSIONS:
                kubernetes_validate.validate(each, version, strict=True)
    names = [(each["kind"], each["metadata"]["name"]) for each in release(values)]
    assert len(set(names)) == len(names)


def test_the_kustomization_has_a_simulated_feed_only_where_its_name_says_so():
    demo = kustomized(KUSTOMIZATION / "demo")
    for each in demo:
        assert re.search("-demo(-[a-z0-9]{10})?$", each["metadata"]["name"])
    service = only(demo, "Service")["spec"]["selector"]
    assert service.items() <= only(demo, "Deployment")["spec"]["template"]["metadata"][
        "labels"
    ].items()
    for objects, is_simulated in ((kustomized(KUSTOMIZATION / "base"), False), (demo, True)):
        assert ("AIR_QUALITY_EXPORTER_FEED_DEMO" in settings(objects)) == is_simulated
        assert "AIR_QUALITY_EXPORTER_LOG_FORMAT" in settings(objects)


def test_the_kustomization_of_the_readme_names_a_feed(tmp_path):
    text = (REPOSITORY / "docker/README.md").read_text()
    shown = re.search(r"```yaml\n(apiVersion: kustomize.*?)```", text, re.DOTALL)[1]
    # kustomize takes no absolute path of a resource.
    folder = os.path.relpath(KUSTOMIZATION / "base", tmp_path)
    (tmp_path / "kustomization.yaml").write_text(
        shown.replace("../air-quality-exporter/docker/kubernetes/base", folder)
    )
    objects = kustomized(tmp_path)
    assert settings(objects)["AIR_QUALITY_EXPORTER_FEED_URL"] == "wss://feed.example/"
    assert container(objects, "Deployment")["image"].startswith("registry.example/")


@pytest.mark.parametrize("folder", ["base", "demo"])
def test_the_schemas_of_kubernetes_accept_the_kustomization(folder):
    objects = kustomized(KUSTOMIZATION / folder)
    for each in objects:
        for version in VERSIONS:
            kubernetes_validate.validate(each, version, strict=True)
    deployment = only(objects, "Deployment")["spec"]["template"]["spec"]
    (exporter,) = deployment["containers"]
    own = container(release(DEMO, versions=()))
    for field in ("livenessProbe", "resources", "securityContext", "ports", "volumeMounts"):
        assert without_scheme(exporter[field]) == without_scheme(own[field]), field


def without_scheme(probe):
    """A probe without the default scheme of Kubernetes."""
    return json.loads(json.dumps(probe).replace(', "scheme": "HTTP"', ""))


@pytest.mark.parametrize(
    "name", ["1-2", "2", "a.b", "x" * 53, "1" * 53, f"{'x' * 52}y", "air-quality-exporter"]
)
def test_every_release_name_gives_object_names_that_kubernetes_accepts(name):
    """Names of Services follow RFC 1035, and a label of the pods is ten characters longer than the
    name of the StatefulSet."""
    objects = release({"feed": {"poll": {"enabled": True}}}, name=name)
    for each in of_kind(objects, "Service"):
        assert re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", each["metadata"]["name"])
        assert len(each["metadata"]["name"]) <= 63
    assert len(only(objects, "StatefulSet")["metadata"]["name"]) <= 52
    for each in objects:
        for value in each["metadata"]["labels"].values():
            assert isinstance(value, str) and len(value) <= 63


def test_long_names_that_differ_at_the_end_stay_different():
    one, two = (release(DEMO, name="x" * 52 + end) for end in "yz")
    assert {each["metadata"]["name"] for each in one}.isdisjoint(
        each["metadata"]["name"] for each in two
    )


@pytest.mark.parametrize(
    "values, words",
    [
        ({}, "feed.demo=true"),
        (DEMO | {"secrets": {"feed.url": "ws://a/"}}, "feed.demo beside a feed"),
        (DEMO | {"replicas": 2}, "feed.demo with several replicas"),
        ({"shards": 2}, "shards"),
        ({"replicas": -1}, "replicas"),
        ({"feed": {"urls": ["http://feed.example/"]}}, "urls"),
        ({"settings": {"feed-url": "x"}}, "feed-url"),
        ({"settings": {"feed.url": "ws://feed.example/"}}, "feed.url"),
        ({"settings": {"feed.demo": True}}, "feed.demo"),
        ({"settings": {"web.listen-address": ":9000"}}, "listen-address"),
        ({"image": {"digest": "0123"}}, "digest"),
        ({"rules": {"runbookUrl": "grafana/README.md"}}, "runbookUrl"),
        (
            DEMO | {"rules": {"alerts": {"NoSuchAlert": {"enabled": False}}}},
            "NoSuchAlert: no such alert",
        ),
        ({"serviceMonitor": {"enabled": "yes"}}, "enabled"),
        ({"feed": {"list": [{"name": "a"}]}}, "url"),
        # Rules that a schema cannot express.
        ({"feed": {"urls": ["ws://a/"], "poll": {"enabled": True}}}, "feed.urls and feed.poll"),
        (
            {"feed": {"list": [{"url": "ws://a/"}]}, "settings": {"feed.file": "/x"}},
            "feed.list and settings feed.file",
        ),
        (
            {"feed": {"poll": {"enabled": True}}, "settings": {"aqi.scale": "us"}},
            "feed.poll.flags.index india",
        ),
        (
            {"replicas": 2, "storage": {"existingClaim": "mine"}, "existingSecret": "mine"},
            "existingClaim",
        ),
        ({"secrets": {"feed.header": "A: b"}, "existingSecret": "mine"}, "secrets and existing"),
        (DEMO | {"ingress": {"enabled": True}}, "ingress.hosts"),
    ],
)
def test_an_invalid_value_is_named_in_the_error(values, words):
    with pytest.raises(helm_python.HelmError) as rejected:
        files(values)
    assert words in str(rejected.value)


def test_the_pods_have_a_headless_service_that_prometheus_does_not_find():
    """A StatefulSet needs one for the names of its pods. With the labels of the other service, the
    ServiceMonitor would find each pod twice."""
    objects = release(VALUES["replicas"])
    pods = only(objects, "StatefulSet")["spec"]
    services = {each["metadata"]["name"]: each for each in of_kind(objects, "Service")}
    headless = services.pop(pods["serviceName"])
    assert headless["spec"]["clusterIP"] == "None"
    (other,) = services.values()
    assert headless["spec"]["selector"] == other["spec"]["selector"]
    assert other["spec"]["selector"] == pods["selector"]["matchLabels"]
    selected = only(objects, "ServiceMonitor")["spec"]["selector"]["matchLabels"].items()
    assert selected <= other["metadata"]["labels"].items()
    assert not selected <= headless["metadata"]["labels"].items()


def test_pods_are_secured_and_spread_as_the_values_say():
    values = VALUES["real air"] | {"securityContext": {"runAsNonRoot": True}}
    for kind in ("StatefulSet", "Deployment"):
        found = container(release(values), kind)["securityContext"]
        assert found["runAsNonRoot"] and found["readOnlyRootFilesystem"]
    pods = only(release(VALUES["replicas"]), "StatefulSet")["spec"]
    spread = pods["template"]["spec"]["topologySpreadConstraints"]
    selectors = [each["labelSelector"]["matchLabels"] for each in spread]
    assert selectors == [pods["selector"]["matchLabels"], {"a": "b"}]
    assert (pods["replicas"], pods["minReadySeconds"]) == (2, 10)


# MARK: From a clone, and as an archive


def test_the_folder_in_the_repository_has_no_links_and_installs_without_dashboards():
    assert [path for path in CHART.rglob("*") if path.is_symlink()] == []
    rendered = files(DEMO, chart=CHART)
    assert "docker/helm/package writes the chart with them" in rendered["NOTES.txt"]
    assert not rendered["dashboards.yaml"].strip() and not rendered["rules.yaml"].strip()
    for part in ("dashboards", "rules"):
        with pytest.raises(helm_python.HelmError, match=f"{part}.enabled: the folder"):
            files(DEMO | {part: {"enabled": True}}, chart=CHART)


def test_the_archive_has_every_dashboard_and_rule_and_fits_into_the_secret_of_a_release(tmp_path):
    objects = release(DEMO)
    boards = [item for each in of_kind(objects, "ConfigMap") for item in each["data"].items()]
    kept = [(path.name, path.read_text()) for path in (GRAFANA / "dashboards").glob("*.json")]
    assert len(kept) == 3 and set(kept) <= set(boards)
    rules = list((GRAFANA / "rules").glob("*.yaml"))
    assert len(of_kind(objects, "PrometheusRule")) == len(rules) > 0
    # etcd accepts 1 MiB for the release, which Helm compresses and encodes in base64 twice.
    assert packaged().stat().st_size < 400_000
    run(REPOSITORY / "docker/helm/package", "1.0.0", tmp_path)
    (archive,) = tmp_path.iterdir()
    assert archive.read_bytes() == packaged().read_bytes()
    with tarfile.open(archive) as tar:
        lines = tar.extractfile("air-quality-exporter/Chart.yaml").read().decode().splitlines()
    assert {"version: 1.0.0", "appVersion: 1.0.0"} <= set(lines)


# MARK: What the programs accept


@each_case
def test_the_exporter_accepts_the_settings(programs, tmp_path, values):
    objects = release(values)
    given = settings(objects)
    if values.get("existingSecret"):
        given["AIR_QUALITY_EXPORTER_FEED_URL"] = "wss://me:secret@feed.example/"
    if "AIR_QUALITY_EXPORTER_STORAGE_FILE" in given:
        given["AIR_QUALITY_EXPORTER_STORAGE_FILE"] = str(tmp_path / "demo.sqlite")
    if "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE" in given:
        (tmp_path / "web.yml").touch()
        given["AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE"] = str(tmp_path / "web.yml")
    if "AIR_QUALITY_EXPORTER_FEED_FILE" in given:
        (secret,) = of_kind(objects, "Secret")
        (tmp_path / "feeds.yml").write_text(secret["stringData"]["feeds.yml"])
        given["AIR_QUALITY_EXPORTER_FEED_FILE"] = str(tmp_path / "feeds.yml")
    ended = programs.run("air-quality-exporter", "--config.check", environment=given)
    assert ended.output == ["configuration is valid"], ended.errors
    assert not [line for line in ended.errors if "AIR_QUALITY_EXPORTER_" in line]


def test_settings_and_secrets_become_environment_variables():
    assert settings(release(VALUES["all"])) == {
        "AIR_QUALITY_EXPORTER_CITY_LIMIT": "1000000",
        "AIR_QUALITY_EXPORTER_FEED_SUBSCRIBE": "one\ntwo",
        "AIR_QUALITY_EXPORTER_FEED_URL": "wss://me:secret@feed.example/",
        "AIR_QUALITY_EXPORTER_LOG_FORMAT": "json",
        "AIR_QUALITY_EXPORTER_WEB_CONFIG_FILE": "/etc/web/web.yml",
        "AIR_QUALITY_EXPORTER_WEB_ENABLE_LIFECYCLE": "true",
    }


@each_case
def test_the_demo_feed_is_used_only_on_request(values):
    """Simulated cities among real ones would pass for real."""
    objects = release(values)
    is_simulated = "AIR_QUALITY_EXPORTER_FEED_DEMO" in settings(objects)
    assert is_simulated == ("AIR_QUALITY_EXPORTER_STORAGE_FILE" in settings(objects))
    assert is_simulated == values.get("feed", {}).get("demo", False)
    assert ("DEMO" in files(values)["NOTES.txt"]) == is_simulated
    # Nothing is read from a Secret that the values do not name: it could have the address of a
    # feed.
    secrets = [each["secretRef"] for each in container(objects)["envFrom"] if "secretRef" in each]
    assert bool(secrets) == bool(values.get("secrets") or values.get("existingSecret"))


@pytest.mark.parametrize(
    "values",
    [
        {"extraEnv": [{"name": "AIR_QUALITY_EXPORTER_FEED_URL", "value": "ws://x/"}]},
        {"extraArgs": ["--feed.url=ws://x/"]},
        {"extraArgs": ["--feed.file", "/etc/feeds.yml"]},
        {"secrets": {"feed.file": "/etc/feeds.yml"}},
    ],
)
def test_a_feed_can_be_that_of_an_argument_or_variable(values):
    assert "AIR_QUALITY_EXPORTER_FEED_DEMO" not in settings(release(values))
    with pytest.raises(helm_python.HelmError, match="feed.demo beside a feed"):
        files(values | DEMO)


def test_changed_settings_restart_the_pod():
    def checksum(values: dict) -> str:
        template = only(release(values), "StatefulSet")["spec"]["template"]
        return template["metadata"]["annotations"]["checksum/settings"]

    changed = checksum(DEMO | {"settings": {"aqi.scale": "us"}})
    assert checksum(DEMO) == checksum(DEMO | {"resources": {}}) != changed


def test_the_poller_accepts_its_arguments(programs):
    arguments = container(release(VALUES["real air"]), "Deployment")["args"]
    arguments = [re.sub(r"(0\.0\.0\.0)?:\d+$", "127.0.0.1:0", each) for each in arguments]
    flags = (*arguments, "--base-url=http://127.0.0.1:1")
    with programs.start("air-quality-feed", *flags) as running:
        running.wait_for_match("listening on (ws://.*)", running.output)


def test_helm_test_reaches_the_exporter_over_http_and_https(programs, start, tmp_path):
    web = tmp_path / "web.yml"
    web.write_text(json.dumps(tls(CertificateAuthority(tmp_path / "authority").issue("server"))))
    secure = {
        "probeScheme": "HTTPS",
        "settings": {"web.config.file": str(web), "log.format": "logfmt"},
        "extraVolumes": [{"name": "web", "secret": {"secretName": "web"}}],
        "extraVolumeMounts": [{"name": "web", "mountPath": str(tmp_path)}],
    }
    for values in (DEMO | {"settings": {"log.format": "logfmt"}}, DEMO | secure):
        asked = only(release(values, tests=True), "Pod")["spec"]["containers"][0]
        environment = settings(release(values))
        del environment["AIR_QUALITY_EXPORTER_STORAGE_FILE"]
        exporter = start.exporter(environment=environment)
        arguments = [each.replace("air:10025", exporter.address) for each in asked["args"]]
        given = environment if "envFrom" in asked else {}
        expect_success(programs, *asked["command"], *arguments, environment=given)


# MARK: Prometheus


def test_probes_check_the_health_of_the_exporter_and_not_the_feed():
    found = container(release(DEMO))
    for probe in ("livenessProbe", "readinessProbe"):
        assert found[probe]["httpGet"]["path"] == "/-/healthy"


def test_objects_of_the_operator_are_rendered_only_if_it_is_installed_or_promised():
    kinds_of_operator = {"ServiceMonitor", "PrometheusRule"}
    unseen = VALUES["monitored by an operator that Helm cannot see"]
    for values, versions, wanted in (
        (DEMO, (), set()),
        (DEMO, OPERATOR, kinds_of_operator),
        (unseen, (), kinds_of_operator),
    ):
        objects = release(values, versions=versions)
        kinds = {each["kind"] for each in objects if "coreos.com" in each["apiVersion"]}
        assert kinds == wanted
        template = only(objects, "StatefulSet")["spec"]["template"]
        assert ("prometheus.io/scrape" in template["metadata"]["annotations"]) == (not wanted)


def rules_of(objects: list[dict]) -> list[dict]:
    specs = [each["spec"] for each in of_kind(objects, "PrometheusRule")]
    return [rule for spec in specs for group in spec["groups"] for rule in group["rules"]]


def selectors(rules: list[dict]) -> set[str]:
    """The beginning of each metric's selector, which must be that of the job."""
    text = re.sub(r"\{\s+", "{", "\n".join(rule["expr"] for rule in rules))
    metric = r"\b(?:up|ALERTS|(?:airquality|process)_\w+)\b"
    return set(re.findall(metric + r'(\{job!?="[^"]*"|.{0,9})', text))


def test_each_release_is_its_own_job_and_its_rules_select_that_job():
    seen = set()
    for name, namespace in (("prod", "air"), ("staging", "air"), ("prod", "other")):
        objects = release({"feed": {"poll": {"enabled": True}}}, name=name, namespace=namespace)
        endpoints = [each["spec"]["endpoints"][0] for each in of_kind(objects, "ServiceMonitor")]
        job, poller = (each["relabelings"][0]["replacement"] for each in endpoints)
        assert job not in seen and poller == f"{job}-feed"
        seen.add(job)
        assert selectors(rules_of(objects)) == {f'{{job="{job}"'}
        # The pods of one release are not those of another.
        selector = only(objects, "StatefulSet")["spec"]["selector"]["matchLabels"]
        assert selector["app.kubernetes.io/instance"] == name


def test_rules_select_no_job_if_another_monitor_scrapes_the_exporter():
    objects = release(DEMO | {"serviceMonitor": {"enabled": False}})
    assert not of_kind(objects, "ServiceMonitor")
    assert selectors(rules_of(objects)) == {'{job!=""'}


def test_the_scrape_time_out_is_that_of_prometheus_unless_it_is_given():
    for given, found in (("", None), ("3s", "3s")):
        values = DEMO | {"serviceMonitor": {"interval": "5s", "scrapeTimeout": given}}
        monitor = only(release(values), "ServiceMonitor")
        assert monitor["spec"]["endpoints"][0].get("scrapeTimeout") == found


def test_the_ports_of_feeds_are_open_whatever_their_passwords():
    policy = only(release(VALUES["a password that is no URL"]), "NetworkPolicy")
    ports = [each["port"] for rule in policy["spec"]["egress"] for each in rule["ports"]]
    assert ports == [53, 53, 81, 443]


def test_rules_can_be_disabled_and_changed_by_values(tmp_path):
    alerts = {
        "AirQualityFeedDown": {"labels": {"team": "air"}},
        "AirQualityFeedDown/critical": {"for": "1h"},
        "AirQualitySevere": {"enabled": False},
    }
    values = DEMO | {"rules": {"alerts": alerts, "runbookUrl": "https://git.example/README.md"}}
    objects = release(values)
    rules = rules_of(objects)
    found = {rule["alert"]: rule for rule in rules if "alert" in rule}
    down = [rule for rule in rules if rule.get("alert") == "AirQualityFeedDown"]
    for rule in down:
        assert rule["labels"]["team"] == "air"
        assert (rule["for"] == "1h") == (rule["labels"]["severity"] == "critical")
    assert "AirQualitySevere" not in found
    links = {rule["annotations"]["runbook_url"] for rule in found.values()}
    assert len(links) == len(found)
    assert all(each.startswith("https://git.example/README.md#alert-airquality") for each in links)
    if shutil.which("promtool"):
        for each in of_kind(objects, "PrometheusRule"):
            file = tmp_path / "rules.yaml"
            file.write_text(yaml.safe_dump(each["spec"]))
            run("promtool", "check", "rules", file)
