"""The image of both programs, built from the real Dockerfile as for a release."""

import functools
import re
import subprocess

from docker import base_images, engine

VERSION = "1.2.3-tested"
IMAGE = f"localhost/air-quality-exporter:{VERSION}"
ARCHIVE = engine.STORE / "image.tar.gz"
# Fixed, so that layers of earlier runs can be reused.
EPOCH = "1700000000"
REVISION = "0123456789abcdef0123456789abcdef01234567"


def runtime_packages() -> list[str]:
    """The Debian packages that the programs in the image need, as the Dockerfile lists them."""
    dockerfile = (engine.REPOSITORY / "docker" / "Dockerfile").read_text()
    listed = re.search(
        "# runtime packages: begin(.*?)# runtime packages: end", dockerfile, re.DOTALL
    )[1]
    return listed.replace("\\", "").split()


@functools.cache
def build():
    """Builds the image once per run; layers with unchanged input are reused from the store."""
    base_images.make_all()
    print(f"building {IMAGE}", flush=True)
    log = engine.STORE / "build.log"
    flags = ["--layers", "--pull=never" if base_images.WANTED else "--pull", *base_images.mounts()]
    settings = {"SOURCE_DATE_EPOCH": EPOCH, "REVISION": REVISION, "IMAGE_FLAGS": " ".join(flags)}
    with open(log, "w") as output:
        status = subprocess.run(
            [engine.REPOSITORY / "docker" / "release" / "image", VERSION, ARCHIVE],
            env=engine.environment() | settings,
            stdout=output,
            stderr=subprocess.STDOUT,
        ).returncode
    if status != 0:
        raise engine.Failed(f"the Dockerfile does not build, see {log}:\n{log.read_text()[-6000:]}")
    return IMAGE
