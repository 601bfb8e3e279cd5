"""The manifests: rendered by kustomize, checked against the API's schemas, and every name they refer to is there."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import yaml

try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

REPOSITORY = pathlib.Path(__file__).resolve().parents[4]
BASE = REPOSITORY / "docker" / "kubernetes"
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


def kustomize(folder):
    result = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return list(yaml.safe_load_all(result.stdout))


def kustomize_is_here():
    if not shutil.which("kubectl"):
        return False
    version = subprocess.run(["kubectl", "version", "--client", "-o", "json"], capture_output=True, text=True).stdout
    return json.loads(version or "{}").get("kustomizeVersion", "v0") >= "v4"


@unittest.skipUnless(kustomize_is_here(), "no kubectl with kustomize 4 or newer here")
class Rendered(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.objects = kustomize(BASE)

    def of_kind(self, kind):
        return [each for each in self.objects if each["kind"] == kind]

    def only(self, kind):
        found = self.of_kind(kind)
        self.assertEqual(len(found), 1, kind)
        return found[0]

    def test_kinds(self):
        self.assertEqual(
            {each["kind"] for each in self.objects},
            {"ConfigMap", "Deployment", "NetworkPolicy", "PersistentVolumeClaim", "PodDisruptionBudget",
             "PrometheusRule", "Service", "ServiceMonitor"})

    @unittest.skipUnless(kubernetes_validate, "kubernetes-validate is not installed: requirements.txt")
    def test_schemas_accept_every_object(self):
        checked = 0
        for version in (OLDEST, kubernetes_validate.latest_version().rsplit(".", 1)[0]):
            for each in self.objects:
                if "coreos.com" not in each["apiVersion"]:
                    with self.subTest(f"{version} {each['kind']} {each['metadata']['name']}"):
                        kubernetes_validate.validate(each, version, strict=True)
                        checked += 1
        self.assertGreaterEqual(checked, 2 * 10)

    @unittest.skipUnless(kubernetes_validate, "kubernetes-validate is not installed: requirements.txt")
    def test_schemas_refuse_a_misspelt_member(self):
        deployment = json.loads(json.dumps(self.only("Deployment")))
        deployment["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(deployment, OLDEST, strict=True)

    def test_objects_of_the_operator_have_known_members(self):
        def known(kind, part, members):
            self.assertLessEqual(set(members), OPERATOR_MEMBERS[kind, part], f"{kind} {part}")
        monitor = self.only("ServiceMonitor")["spec"]
        known("ServiceMonitor", "spec", monitor)
        for endpoint in monitor["endpoints"]:
            known("ServiceMonitor", "endpoint", endpoint)
        for rules in self.of_kind("PrometheusRule"):
            known("PrometheusRule", "spec", rules["spec"])
            for group in rules["spec"]["groups"]:
                known("PrometheusRule", "group", group)
                for rule in group["rules"]:
                    known("PrometheusRule", "rule", rule)

    def test_references_lead_somewhere(self):
        names = {(each["kind"], each["metadata"]["name"]) for each in self.objects}
        pod = self.only("Deployment")["spec"]["template"]
        container = pod["spec"]["containers"][0]
        for source in container["envFrom"]:
            if "configMapRef" in source:
                self.assertIn(("ConfigMap", source["configMapRef"]["name"]), names)
            else:
                self.assertTrue(source["secretRef"]["optional"])
        volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
        for mount in container["volumeMounts"]:
            self.assertIn(("PersistentVolumeClaim", volumes[mount["name"]]["persistentVolumeClaim"]["claimName"]), names)

    def test_selectors_select_what_they_are_for(self):
        labels = self.only("Deployment")["spec"]["template"]["metadata"]["labels"]
        service = self.only("Service")
        for what, wanted, found in (
            ("Deployment", self.only("Deployment")["spec"]["selector"]["matchLabels"], labels),
            ("Service", service["spec"]["selector"], labels),
            ("PodDisruptionBudget", self.only("PodDisruptionBudget")["spec"]["selector"]["matchLabels"], labels),
            ("NetworkPolicy", self.only("NetworkPolicy")["spec"]["podSelector"]["matchLabels"], labels),
            ("ServiceMonitor", self.only("ServiceMonitor")["spec"]["selector"]["matchLabels"],
             service["metadata"]["labels"]),
        ):
            self.assertLessEqual(wanted.items(), found.items(), what)
        self.assertEqual(service["metadata"]["labels"][self.only("ServiceMonitor")["spec"]["jobLabel"]],
                         "air-quality-exporter", "rules and dashboards select this job")

    def test_ports_have_one_name(self):
        container = self.only("Deployment")["spec"]["template"]["spec"]["containers"][0]
        pod_ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        self.assertEqual(pod_ports, {"metrics": 10025})
        service_ports = {port["name"]: port["targetPort"] for port in self.only("Service")["spec"]["ports"]}
        self.assertLessEqual(set(service_ports.values()), set(pod_ports))
        for endpoint in self.only("ServiceMonitor")["spec"]["endpoints"]:
            self.assertIn(endpoint["port"], service_ports)
        for probe in ("livenessProbe", "readinessProbe"):
            self.assertIn(container[probe]["httpGet"]["port"], pod_ports)
        for rule in self.only("NetworkPolicy")["spec"]["ingress"]:
            self.assertLessEqual({port["port"] for port in rule["ports"]}, set(pod_ports))

    def test_container_is_that_of_the_image(self):
        dockerfile = (REPOSITORY / "docker" / "Dockerfile").read_text()
        pod = self.only("Deployment")["spec"]["template"]["spec"]
        context = pod["securityContext"]
        self.assertIn(f"USER {context['runAsUser']}:{context['runAsGroup']}\n", dockerfile)
        self.assertTrue(context["runAsNonRoot"])
        for mount in pod["containers"][0]["volumeMounts"]:
            self.assertIn(f'VOLUME ["{mount["mountPath"]}"]', dockerfile)
        self.assertEqual(pod["containers"][0]["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}})

    def test_image_has_the_tag_of_the_compose_file(self):
        image = self.only("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
        self.assertIn(f"\nVERSION={image.split(':')[1]}\n", (REPOSITORY / "docker" / ".env").read_text())

    def test_dashboards_are_the_files(self):
        rendered = {}
        for each in self.of_kind("ConfigMap"):
            if each["metadata"].get("labels", {}).get("grafana_dashboard") == "1":
                # kubectl apply keeps the whole object in an annotation, and annotations end at 256 KiB.
                self.assertLess(len(json.dumps(each)), 256 * 1024, each["metadata"]["name"])
                rendered |= each["data"]
        digest = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in DASHBOARDS.glob("*.json")}
        self.assertEqual({name: hashlib.sha256(text.encode()).hexdigest() for name, text in rendered.items()}, digest)

    def test_rules_are_those_of_the_files(self):
        rendered = [rules["spec"] for rules in self.of_kind("PrometheusRule")]
        self.assertCountEqual(rendered, [yaml.safe_load(path.read_text()) for path in RULES.glob("*.yaml")])

    def test_an_overlay_changes_feed_image_and_namespace(self):
        with tempfile.TemporaryDirectory() as folder:
            base = os.path.relpath(BASE, os.path.realpath(folder))
            pathlib.Path(folder, "kustomization.yaml").write_text(OVERLAY.format(base=base))
            objects = kustomize(folder)
        self.assertEqual({each["metadata"]["namespace"] for each in objects}, {"monitoring"})
        settings = [each["data"] for each in objects if each["metadata"]["name"].startswith("air-quality-exporter-")]
        self.assertEqual(settings, [{"AIR_QUALITY_EXPORTER_FEED_URL": "wss://feed.example/"}])
        deployment = next(each for each in objects if each["kind"] == "Deployment")
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(container["image"], "registry.example/air-quality-exporter:1.0.0")


class Generated(unittest.TestCase):
    def test_rules_are_up_to_date(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "docker", "kubernetes")
            copy.mkdir(parents=True)
            shutil.copy(BASE / "render-rules", copy)
            shutil.copytree(RULES, pathlib.Path(folder, "grafana", "rules"))
            subprocess.run([copy / "render-rules"], check=True)
            fresh = (copy / "prometheus-rules.yaml").read_text()
        self.assertEqual((BASE / "prometheus-rules.yaml").read_text(), fresh, "run docker/kubernetes/render-rules")
