"""Substitutes for the images that the project's files name, for a machine without a registry.

Each has the name of the real image, so that Dockerfile and compose.yaml are built and run
unchanged:

- debian:trixie-slim   debootstrap, without what the real one leaves out
- swift:6.3-bookworm   the same of Debian 12 with the C compiler; this machine's Swift toolchain is
  mounted into the build
- prom/prometheus, prom/alertmanager   Debian's own, laid out as in the real images

With CONTAINER_IMAGES=pull, no substitutes are made, and podman pulls the real images.
"""

import functools
import hashlib
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from docker import engine

COMPOSE = engine.REPOSITORY / "docker" / "compose.yaml"
WANTED = os.environ.get("CONTAINER_IMAGES") != "pull"
RECIPE = "recipe"

#: The supported releases of Debian, and the one of the image.
RELEASES = {"12": "bookworm", "13": "trixie"}
OF_IMAGE = "trixie"
SWIFT = "docker.io/library/swift:6.3-bookworm"

# What the real slim image drops, after https://github.com/debuerreotype/debuerreotype (.slimify-
# excludes).
SLIM_EXCLUDES = [
    "usr/share/doc", "usr/share/groff", "usr/share/info", "usr/share/linda", "usr/share/lintian",
    "usr/share/locale", "usr/share/man",
]
EMPTIED = ["var/lib/apt/lists", "var/cache/apt", "var/cache/debconf"]

# The libraries that the toolchain of the real image is linked with, and what compiling and linking
# needs.
SWIFT_PACKAGES = [
    "ca-certificates", "binutils", "gcc", "git", "libc6-dev", "libcurl4", "libedit2", "libncurses6",
    "libsqlite3-0", "libstdc++-12-dev", "libxml2", "tzdata",
]


def composed_image(name):
    """The full name of an image as compose.yaml pins it."""
    tag = re.search(rf"image: {name}:(\S+)", COMPOSE.read_text())
    if not tag:
        raise engine.Failed(f"{COMPOSE}: expected an image {name} with a tag")
    return f"docker.io/{name}:{tag[1]}"


def debian(release):
    return f"docker.io/library/debian:{release}-slim"


def apt_settings(release):
    """This machine's apt settings, but with the packages of the given release."""
    folder = engine.STORE / f"apt-{release}"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(
        "/etc/apt", folder, symlinks=True, ignore=shutil.ignore_patterns("sources.list*")
    )
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (folder / "sources.list").write_text(f"deb [signed-by={keys}] {apt_mirror()} {release} main\n")
    return folder


def mounts(release=OF_IMAGE):
    """Volumes for a build on substitutes: the machine's toolchain, package sources, Git mirrors.

    They exist only during RUN steps and leave nothing in the image.
    """
    if not WANTED:
        return []
    toolchain = pathlib.Path(shutil.which("swift")).resolve().parents[2]
    paths = [toolchain, pathlib.Path("/etc/gitconfig")]
    command = ["git", "config", "--get-regexp", r"^url\..*\.insteadof$"]
    rewrites = subprocess.run(command, text=True, stdout=subprocess.PIPE).stdout
    paths += [
        pathlib.Path(mirror)
        for mirror in re.findall(r"^url\.(/.*?)/?\.insteadof ", rewrites, re.MULTILINE)
    ]
    volumes = [f"{path}:{path}:ro" for path in dict.fromkeys(paths) if path.exists()]
    # Upgraded packages write there.
    return [
        word
        for volume in [*volumes, f"{apt_settings(release)}:/etc/apt"]
        for word in ("--volume", volume)
    ]


def apt_mirror():
    """The Debian mirror that apt uses here."""
    wanted = ("Created-By: Packages", "Origin: Debian", "Label: Debian")
    lines = engine.run("apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted)
    if not lines:
        raise engine.Failed("apt knows no mirror of Debian: run apt-get update")
    return lines.splitlines()[0]


def make(image, recipe, body):
    """Makes the image with `body` unless the store has it, made by the same recipe."""
    digest = hashlib.sha256(recipe.encode()).hexdigest()[:16]
    made = engine.podman(
        "image", "inspect", "--format", f'{{{{index .Labels "{RECIPE}"}}}}', image, status=None
    )
    if made != digest:
        print(f"making a substitute for {image}", flush=True)
        body(f"{RECIPE}={digest}")


def make_debian(release, label):
    with tempfile.TemporaryDirectory(dir=engine.STORE) as folder:
        root = pathlib.Path(folder, "root")
        engine.run("debootstrap", "--variant=minbase", release, root, apt_mirror())
        for path in SLIM_EXCLUDES + EMPTIED:
            shutil.rmtree(root / path, ignore_errors=True)
        for path in EMPTIED:
            (root / path).mkdir()
        # Packages that are installed later leave out the same files, as in the real image.
        (root / "etc/dpkg/dpkg.cfg.d/docker").write_text(
            "".join(f"path-exclude /{path}/*\n" for path in SLIM_EXCLUDES)
            + "path-include /usr/share/doc/*/copyright\n"
        )
        archive = pathlib.Path(folder, "root.tar")
        engine.run("tar", "-C", root, "-cf", archive, "--numeric-owner", ".")
        path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        engine.podman(
            "import", "--change", path, "--change", "CMD bash", "--change", f"LABEL {label}",
            archive, debian(release),
        )


def build(image, containerfile, label, *flags, release="bookworm"):
    engine.run(
        "buildah", "bud", "--pull=never", "--format", "docker", "--label", label, *mounts(release),
        *flags, "--tag", image, "--file", "-",
        engine.STORE / "networks",
        input=containerfile,
    )


def install(packages):
    return (
        "RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "
        "--no-install-recommends "
        f"{' '.join(packages)} && rm -rf /var/lib/apt/lists/*"
    )


def extract(package, moves):
    """Extracts programs from a Debian package, without its setup for a whole machine."""
    return (
        f"RUN apt-get update -qq && cd /tmp && apt-get download -qq {package} && "
        f"dpkg-deb -x {package}_*.deb x && "
        + " && ".join(f"mv x{source} {target}" for source, target in moves.items())
        + " && rm -rf x *.deb /var/lib/apt/lists/*"
    )


def server(package, moves, name, port):
    """The Containerfile of a server of the Prometheus project, laid out like the real image."""
    lines = [
        f"FROM {debian('bookworm')}",
        extract(package, moves),
        f"RUN mkdir -p /etc/{name} /{name} && chown 65534:65534 /{name}",
        "USER nobody",
        f"EXPOSE {port}",
        f'VOLUME ["/{name}"]',
        f"WORKDIR /{name}",
        f'ENTRYPOINT ["/bin/{name}"]',
        f'CMD ["--config.file=/etc/{name}/{name}.yml"]',
        "",
    ]
    return "\n".join(lines)


def containerfiles():
    toolchain = shutil.which("swift")
    programs = pathlib.Path(toolchain).resolve().parent if toolchain else None
    prometheus = {f"/usr/bin/{name}": "/bin/" for name in ("prometheus", "promtool")}
    alertmanager = {
        "/usr/bin/prometheus-alertmanager": "/bin/alertmanager",
        "/usr/bin/amtool": "/bin/",
        "/usr/share/prometheus": "/usr/share/",
    }
    return {
        SWIFT: f"FROM {debian('bookworm')}\n{install(SWIFT_PACKAGES)}\n"
        f"ENV PATH={programs}:/usr/sbin:/usr/bin:/sbin:/bin\n",
        composed_image("prom/prometheus"): server("prometheus", prometheus, "prometheus", 9090),
        composed_image("prom/alertmanager"): server(
            "prometheus-alertmanager", alertmanager, "alertmanager", 9093
        ),
    }


def make_bases():
    """Makes the Debian images, and returns their recipe."""
    engine.prepare()
    base = inspect.getsource(make_debian) + repr(SLIM_EXCLUDES + EMPTIED)
    if WANTED:
        for release in RELEASES.values():
            make(debian(release), base, functools.partial(make_debian, release))
    return base


def make_all():
    base = make_bases()
    if not WANTED:
        return
    for image, containerfile in containerfiles().items():
        make(image, base + containerfile, functools.partial(build, image, containerfile))
