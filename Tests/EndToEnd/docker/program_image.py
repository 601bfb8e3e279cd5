"""The image of both programs, built from the real Dockerfile."""

import functools
import subprocess

from docker import engine, stand_ins

IMAGE = "localhost/air-quality-exporter:tested"
VERSION = "1.2.3-tested"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@functools.cache
def build():
    """Builds the image once in a run; layers whose input is the same are taken from the store."""
    stand_ins.make_all()
    print(f"building {IMAGE}", flush=True)
    log = engine.STORE / "build.log"
    with open(log, "w") as output:
        status = subprocess.run(
            ["buildah", "bud", "--layers", "--pull=never" if stand_ins.WANTED else "--pull", "--format", "docker",
             *stand_ins.mounts(), "--build-arg", f"VERSION={VERSION}", "--build-arg", f"REVISION={REVISION}",
             "--tag", IMAGE, "--file", str(engine.REPOSITORY / "docker" / "Dockerfile"), str(engine.REPOSITORY)],
            env=engine.environment(), stdout=output, stderr=subprocess.STDOUT).returncode
    if status != 0:
        raise engine.Failed(f"the Dockerfile does not build, see {log}:\n{log.read_text()[-6000:]}")
    return IMAGE
