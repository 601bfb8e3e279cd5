"""The image as people run it: read-only, without capabilities, as its own user."""

import json
import pathlib
import time
import unittest
import urllib.error
import urllib.request

import engine
import program_image
from engine import podman, wait_until
from sequence import Sequence

STATE = "/var/lib/air-quality-exporter"
HARDENED = ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
IDLE_TIMEOUT = 5

# The programs, and what Debian's slim base lacks of the libraries they are linked with, in bytes. A bound, so that
# nothing slips in unseen: raise it knowingly.
LIBRARIES_LIMIT = 12_000_000
PROGRAMS_LIMIT = 34_000_000


def get(address, path):
    """Status and text; an error status is an answer too."""
    try:
        with urllib.request.urlopen(f"http://{address}:10025{path}", timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def samples(page, name):
    """The values of a family's series, by what stands in the braces."""
    found = {}
    for line in page.splitlines():
        series, _, value = line.rpartition(" ")
        if series == name or series.startswith(name + "{"):
            found[series[len(name):].strip("{}")] = float(value)
    return found


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = program_image.build()
        cls.configuration = engine.inspect(cls.image)["Config"]

    def inside(self, *command):
        return podman("run", "--rm", *HARDENED, "--network", "none", "--entrypoint", command[0], self.image, *command[1:])

    def test_configuration(self):
        configuration = self.configuration
        self.assertEqual(configuration["User"], "65532:65532")
        self.assertEqual(configuration["Entrypoint"], ["air-quality-exporter"])
        self.assertFalse(configuration.get("Cmd"))
        self.assertEqual(configuration["StopSignal"], "SIGTERM")
        self.assertEqual(set(configuration["Volumes"]), {STATE})
        self.assertEqual(set(configuration["ExposedPorts"]), {"10025/tcp"})
        self.assertEqual(engine.inspect(self.image)["Healthcheck"]["Test"], ["CMD", "air-quality-exporter", "healthcheck"])

    def test_labels(self):
        labels = self.configuration["Labels"]
        prefix = "org.opencontainers.image."
        self.assertEqual(labels[prefix + "version"], program_image.VERSION)
        self.assertEqual(labels[prefix + "revision"], program_image.REVISION)
        self.assertEqual(labels[prefix + "licenses"], "Apache-2.0")
        self.assertLessEqual({prefix + name for name in ("title", "description", "created", "base.name")}, set(labels))

    def test_programs_know_what_they_were_built_from(self):
        for program in ("air-quality-exporter", "air-quality-feed"):
            answer = self.inside(program, "--version")
            self.assertIn(program_image.VERSION, answer)
            self.assertIn(program_image.REVISION, answer)

    def test_every_shared_library_is_there_and_from_a_package(self):
        for program in ("air-quality-exporter", "air-quality-feed"):
            lines = self.inside("ldd", f"/usr/local/bin/{program}").splitlines()
            missing = [line for line in lines if "not found" in line]
            self.assertEqual(missing, [])
            for line in lines:
                if "=> /" in line:
                    path = line.split("=> ")[1].split()[0]
                    self.inside("sh", "-c", f"dpkg --search $(basename $(readlink -f {path}))")

    def test_programs_are_stripped(self):
        root = pathlib.Path(podman("image", "mount", self.image))
        self.addCleanup(podman, "image", "umount", self.image)
        for program in ("air-quality-exporter", "air-quality-feed"):
            sections = engine.run("readelf", "--section-headers", "--wide", root / "usr/local/bin" / program)
            self.assertNotIn(".symtab", sections)
            self.assertNotIn(".debug_", sections)

    def test_it_is_no_larger_than_we_say(self):
        layers = json.loads(podman("history", "--format", "json", self.image))
        size = {"copy": 0, "install": 0, "base": 0}
        seen_install = False
        for layer in layers:  # newest first
            kind = "copy" if "COPY" in layer["CreatedBy"] else "install" if "apt-get install" in layer["CreatedBy"] else (
                "base" if seen_install else "copy")
            seen_install = seen_install or kind == "install"
            size[kind] += layer["size"]
        print(f"image: base {size['base']}, libraries {size['install']}, programs {size['copy']} bytes", flush=True)
        self.assertLess(size["install"], LIBRARIES_LIMIT)
        self.assertLess(size["copy"], PROGRAMS_LIMIT)

    def test_without_a_feed_it_says_what_to_set(self):
        with self.assertRaises(engine.Failed) as refused:
            podman("run", "--rm", *HARDENED, "--network", "none", self.image)
        message = str(refused.exception)
        self.assertIn("--feed.url", message)
        self.assertIn("--feed.demo", message)


class Life(Sequence):
    """One exporter and its feed on a network of their own, from start to end."""

    NETWORK, VOLUME, FEED, EXPORTER = (f"air-quality-test-{name}" for name in ("network", "volume", "feed", "exporter"))

    @classmethod
    def setUpClass(cls):
        cls.image = program_image.build()
        cls.addClassCleanup(cls.remove)
        cls.remove()
        podman("network", "create", cls.NETWORK)
        podman("volume", "create", cls.VOLUME)
        cls.start_exporter()

    @classmethod
    def start_exporter(cls):
        podman("run", "--detach", "--name", cls.EXPORTER, "--network", cls.NETWORK, *HARDENED,
               "--volume", f"{cls.VOLUME}:{STATE}",
               "--env", f"AIR_QUALITY_EXPORTER_FEED_URL=ws://{cls.FEED}:8765/",
               "--env", f"AIR_QUALITY_EXPORTER_FEED_IDLE_TIMEOUT={IDLE_TIMEOUT}s",
               "--env", "AIR_QUALITY_EXPORTER_FEED_RECONNECT_MAX=1s",
               "--env", "AIR_QUALITY_EXPORTER_HISTORY_INTERVAL=1s",
               cls.image)
        cls.address = engine.address(cls.EXPORTER, cls.NETWORK)

    @classmethod
    def remove(cls):
        podman("rm", "--force", "--ignore", "--time", "0", "--volumes", cls.EXPORTER, cls.FEED)
        podman("volume", "rm", "--force", cls.VOLUME, status=None)
        podman("network", "rm", "--force", cls.NETWORK, status=None)

    def check(self):
        """Runs the image's health check, as a timer would; true when it passes."""
        podman("healthcheck", "run", self.EXPORTER, status=None)
        return self.state()[1] == 0

    def state(self):
        """The health status and the status of the last check."""
        health = engine.inspect(self.EXPORTER)["State"]
        health = health.get("Health") or health["Healthcheck"]
        return health["Status"], (health["Log"] or [{"ExitCode": None}])[-1]["ExitCode"]

    def health_becomes(self, wanted):
        def ask():
            self.check()
            return self.state()[0] == wanted
        wait_until(ask, f"health {wanted}", within=180)

    def metrics(self):
        status, page = get(self.address, "/metrics")
        self.assertEqual(status, 200)
        return page

    def points(self):
        return json.loads(get(self.address, "/history.json")[1])["points"]

    def test_1_serves_before_there_is_a_feed(self):
        wait_until(lambda: self.answers("/metrics"), "a page of metrics")
        self.assertEqual(set(samples(self.metrics(), "airquality_exporter_feed_connected").values()), {0})
        self.assertFalse(self.check(), "without a feed it cannot be ready")
        self.assertEqual(self.state()[0], "starting")

    def answers(self, path):
        try:
            return get(self.address, path)[0] == 200
        except OSError:
            return False

    def test_2_becomes_healthy_with_the_feed(self):
        podman("run", "--detach", "--name", self.FEED, "--network", self.NETWORK, *HARDENED,
               "--entrypoint", "air-quality-feed", self.image,
               "simulate", "--listen", "0.0.0.0:8765", "--cities", "12", "--interval", "500ms")
        self.health_becomes("healthy")
        cities = wait_until(lambda: (found := samples(self.metrics(), "airquality_index")) and len(found) == 12 and found,
                            "all cities")
        self.assertTrue(all(0 <= value <= 9999 for value in cities.values()))

    def test_3_has_no_rights(self):
        process = pathlib.Path("/proc", str(engine.inspect(self.EXPORTER)["State"]["Pid"]))
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        self.assertEqual(status["Uid"].split(), ["65532"] * 4)
        self.assertEqual(status["Gid"].split(), ["65532"] * 4)
        for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[capabilities], 16), 0, capabilities)
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        with self.assertRaisesRegex(engine.Failed, "Read-only file system"):
            podman("exec", self.EXPORTER, "touch", "/usr/local/bin/x")

    def test_4_a_silent_feed_makes_it_unhealthy_after_the_limit(self):
        before = time.monotonic()
        podman("kill", "--signal", "STOP", self.FEED)
        self.assertTrue(self.check(), "a feed may be silent for a while")
        wait_until(lambda: not self.check(), "a failing check", within=120)
        # The last message is at most one interval older than the silence.
        self.assertGreater(time.monotonic() - before, IDLE_TIMEOUT - 1)
        self.health_becomes("unhealthy")
        page = self.metrics()
        self.assertEqual(len(samples(page, "airquality_index")), 12, "the last readings stay")
        disconnects = samples(page, "airquality_exporter_feed_disconnects_total")
        self.assertGreaterEqual(sum(value for key, value in disconnects.items() if 'reason="idle"' in key), 1)

    def test_5_becomes_healthy_again(self):
        podman("kill", "--signal", "CONT", self.FEED)
        self.health_becomes("healthy")

    def test_6_a_dead_feed_makes_it_unhealthy(self):
        podman("kill", self.FEED)
        self.health_becomes("unhealthy")
        self.assertEqual(set(samples(self.metrics(), "airquality_exporter_feed_connected").values()), {0})

    def test_7_ends_with_status_0_and_keeps_its_readings(self):
        points = self.points()
        self.assertGreaterEqual(len(points), 12)
        podman("kill", "--signal", "TERM", self.EXPORTER)
        self.assertEqual(podman("wait", self.EXPORTER), "0")
        podman("rm", self.EXPORTER)
        self.start_exporter()
        wait_until(lambda: self.answers("/history.json"), "a history")
        self.assertEqual(self.points(), points)

    def test_8_the_volume_can_be_saved_and_put_back(self):
        """The two commands of the README, with podman's names."""
        points = self.points()
        podman("stop", "--time", "30", self.EXPORTER)
        self.assertEqual(engine.inspect(self.EXPORTER)["State"]["ExitCode"], 0)
        podman("rm", self.EXPORTER)
        run = ["podman", "run", "--rm", "--interactive", "--volume", f"{self.VOLUME}:{STATE}", *HARDENED,
               "--network", "none", "--entrypoint", "tar", self.image, "-C", STATE]
        archive = engine.STORE / "backup.tar.gz"
        self.addCleanup(archive.unlink, missing_ok=True)
        engine.run("sh", "-c", f'exec "$@" > {archive}', "sh", *run, "-cz", ".")
        podman("volume", "rm", self.VOLUME)
        podman("volume", "create", self.VOLUME)
        engine.run("sh", "-c", f'exec "$@" < {archive}', "sh", *run, "-xz")
        self.start_exporter()
        wait_until(lambda: self.answers("/history.json"), "a history")
        self.assertEqual(self.points(), points)
