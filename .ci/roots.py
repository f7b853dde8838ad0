"""Tests a wheel in a root: a fresh Debian in a folder, made by debootstrap, that sees nothing of this system.

    python .ci/roots.py wheel WHEEL [pytest arguments]   in a Debian without a compiler, and without EGL
    python .ci/roots.py arm WHEEL [pytest arguments]     in a Debian for arm64, which qemu-user runs

SKINPY_ROOT names Debian's suite (bookworm if not given, trixie, testing). SKINPY_DEBS names a folder that
keeps Debian's packages for the next time, and SKINPY_DATA the shared test data.

A root needs no network: pip downloads outside, as it is configured here, and debootstrap takes the mirror of
apt. Whatever a root needs mounted is mounted in a namespace of the process that runs in it, and is gone when
that process is, however it ends. So what a killed run leaves is an ordinary folder. The next run deletes it.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / ".roots"
EGL = ("libegl1", "libgl1", "libgl1-mesa-dri")
#: What the tests read beside themselves. The package's sources are not among it: what is tested is the wheel.
COPIED = (
    "tests",
    "docs",
    "examples",
    "notebooks",
    "pyproject.toml",
    *(path.name for path in CHECKOUT.glob("*.md")),
)
#: The oldest glibc for which the packages may be built that pip downloads: Debian 12 has 2.36.
GLIBC_MINOR = 36
#: The programs that a run needs, and their packages.
NEEDED = {
    "wheel": {"debootstrap": "debootstrap", "unshare": "util-linux"},
    "arm": {"debootstrap": "debootstrap", "unshare": "util-linux", "qemu-aarch64-static": "qemu-user-static"},
}
#: The numerical tests: under qemu all others would take too long.
NUMERICAL = (
    *("additive", "blend", "crowd", "curves", "deform", "goals", "goldens", "morph", "other_processor"),
    *("properties", "rotation", "simd", "threads", "twin"),
)
ARM_TESTS = tuple(f"tests/test_{name}.py" for name in NUMERICAL)
QEMU = Path("/usr/lib/binfmt.d/qemu-aarch64.conf")
BINFMT = Path("/proc/sys/fs/binfmt_misc")

# Arguments: a root, a folder to mount on its /data (or nothing), the command. The mounts are its own.
ENTER = """
set -e
root=$1 data=$2
shift 2
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
if [ "$data" ]; then mount --bind "$data" "$root/data"; mount -o remount,bind,ro "$root/data"; fi
exec chroot "$root" "$@"
"""


def say(text: str) -> None:
    print(f"roots: {text}", flush=True)


def run(*command: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs a command whose output is shown only where it fails."""
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nroots: {command[0]} failed (its output is above)")
    return done


def unshared(*command: str | Path) -> list[str]:
    """The command with mounts and processes of its own, all of which end with it."""
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", *map(str, command)]


class Root:
    """A Debian in a folder of the checkout."""

    def __init__(self, path: Path, data: Path | None) -> None:
        self.path = path
        self.data = data

    def command(self, *command: str, **environment: str) -> list[str]:
        """The command to run in it, where nothing of this system's environment is seen."""
        given = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"} | environment
        settings = [f"{name}={value}" for name, value in given.items()]
        enter = ("sh", "-c", ENTER, "enter", self.path, self.data or "")
        return unshared(*enter, "env", "-i", *settings, *command)

    def run(self, *command: str, **environment: str) -> str:
        return run(*self.command(*command, **environment)).stdout

    def fails(self, *command: str) -> str:
        """The output of a command that must fail."""
        done = subprocess.run(self.command(*command), capture_output=True, text=True)
        assert done.returncode, f"{command} did not fail:\n{done.stdout}"
        return done.stdout + done.stderr


def mirror() -> list[str]:
    """The mirror of Debian that apt has; nothing where apt has none, and debootstrap's own is good."""
    wanted = ("Created-By: Packages", "Origin: Debian", "Label: Debian")
    try:
        done = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted], capture_output=True, text=True
        )
    except FileNotFoundError:
        return []
    return done.stdout.split()[:1]


def proxy() -> dict[str, str]:
    """This environment, with the proxy that apt has for those programs that do not ask apt."""
    found = subprocess.run(
        ["sh", "-c", 'eval "$(apt-config shell proxy Acquire::http::Proxy)"; echo "$proxy"'],
        capture_output=True,
        text=True,
    ).stdout.strip()
    return dict(os.environ) | ({"http_proxy": found} if found else {})


def bootstrap(path: Path, suite: str, packages: tuple[str, ...], *options: str) -> None:
    """Makes a root."""
    # dpkg waits for the disk after each file, which costs half of the time and is of no use here.
    settings = path / "etc/dpkg/dpkg.cfg.d"
    settings.mkdir(parents=True)
    (settings / "unsafe-io").write_text("force-unsafe-io\n")
    (path / "data").mkdir()
    if kept := os.environ.get("SKINPY_DEBS"):
        Path(kept).mkdir(parents=True, exist_ok=True)
        options += (f"--cache-dir={Path(kept).resolve()}",)
    options += ("--variant=minbase", "--force-check-gpg", f"--include={','.join(packages)}")
    run(*unshared("debootstrap", *options, suite, path, *mirror()), env=proxy())


def test_data() -> Path | None:
    folder = Path(os.environ.get("SKINPY_DATA") or CHECKOUT.parent / "shared/data").resolve()
    return folder if (folder / "models").is_dir() else None


@contextmanager
def fresh_root(suite: str, machine: str) -> Iterator[Root]:
    """An empty folder for a root, which is deleted at the end. The rest of a broken run is deleted first."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{suite}-{machine}"
    with (FOLDER / f"{path.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"roots: another run is testing in {path}")
        delete(path)
        try:
            yield Root(path, test_data())
        finally:
            delete(path)


def delete(path: Path) -> None:
    run("rm", "-rf", "--one-file-system", path)


def foreign(version: str, machine: str) -> list[str]:
    """Options of pip for wheels of another Python, another processor and Debian's glibc."""
    old = (f"manylinux{name}_{machine}" for name in ("1", "2010", "2014"))
    platforms = [*old, *(f"manylinux_2_{minor}_{machine}" for minor in range(5, GLIBC_MINOR + 1))]
    return [
        *(f"--platform={name}" for name in platforms),
        *("--only-binary=:all:", f"--python-version={version}", "--disable-pip-version-check"),
    ]


def pip(command: str, *arguments: str | Path) -> None:
    run(sys.executable, "-m", "pip", command, *arguments)


def copy_tests(root: Root) -> None:
    folder = root.path / "opt/skinpy-tests"
    folder.mkdir(parents=True)
    left_out = shutil.ignore_patterns("__pycache__", "_build", "jupyter_execute", "*.so")
    for name in COPIED:
        source = CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=left_out)
        else:
            shutil.copy(source, folder)


def run_pytest(root: Root, python: str, arguments: list[str], **settings: str) -> int:
    """Runs the tests in the root, with what the wheel installed."""
    command = f'cd /opt/skinpy-tests && exec {python} -m pytest -p no:cacheprovider "$@"'
    settings |= {"SKINPY_INSTALLED": "1", "SKINPY_DATA": "/data"}
    return subprocess.run(root.command("sh", "-c", command, "sh", *arguments, **settings)).returncode


# ---- a Debian without a compiler -------------------------------------------------------------------------


def draw_and_compare(root: Root) -> None:
    """The picture of `skinpy demo` is the checkout's, except for what another Mesa rounds differently."""
    import numpy as np
    from PIL import Image

    here = root.path.with_suffix(".png")
    run(sys.executable, "-m", "skinpy", "demo", "-o", here)
    root.run("/opt/venv/bin/skinpy", "demo", "-o", "/root/demo.png")
    pictures = [Image.open(path).convert("RGB") for path in (here, root.path / "root/demo.png")]
    here.unlink()
    want, got = (np.asarray(picture, np.int16) for picture in pictures)
    assert got.shape == want.shape, f"the picture has the shape {got.shape}, not {want.shape}"
    apart = np.abs(got - want).max(-1)
    drawn = np.abs(want - want[0, 0]).max(-1) > 0
    assert drawn.mean() > 0.05, "the checkout draws nothing"
    # At most one pixel in a hundred of the character may differ by more than 8 of 255: its edges.
    share = (apart > 8).sum() / drawn.sum()
    assert share < 0.01, f"{share:.1%} of the picture differs from the checkout's picture"
    say(f"skinpy demo draws the checkout's picture ({drawn.mean():.1%} covered, {share:.2%} of that differ)")


def check_without_egl(root: Root) -> None:
    """Where there is no EGL, loading and posing work, and drawing names the packages that are missing."""
    bare = Root(root.path.with_name(root.path.name + "-bare"), None)
    delete(bare.path)
    try:
        # Hard links: what is removed in one stays in the other.
        run("cp", "--archive", "--link", root.path, bare.path)
        bare.run("dpkg", "--remove", "--force-depends", *EGL)
        pose = "import skinpy; print(skinpy.character().palette('walk', 0.25).shape)"
        assert bare.run("/opt/venv/bin/python", "-c", pose) == "(24, 4, 4)\n"
        said = bare.fails("/opt/venv/bin/skinpy", "demo", "-o", "/root/demo.png")
        assert not [name for name in EGL if name not in said], said
    finally:
        delete(bare.path)
    say("without EGL, loading and posing work, and drawing names the packages")


def python_version(root: Root) -> str:
    return re.fullmatch(r"python(3\.\d+)", (root.path / "usr/bin/python3").readlink().name)[1]


def test_wheel(wheel: Path, suite: str, arguments: list[str]) -> int:
    with fresh_root(suite, "amd64") as root:
        say(f"making a root of Debian {suite}")
        bootstrap(root.path, suite, ("python3-venv", *EGL))
        version = python_version(root)
        say(f"installing {wheel.name} into a virtual environment of Python {version}")
        pip("download", *foreign(version, "x86_64"), f"--dest={root.path}/wheels", f"{wheel}[view,test]")
        root.run("python3", "-m", "venv", "/opt/venv")
        install = ("/opt/venv/bin/pip", "install", "--no-index", "--find-links=/wheels")
        root.run(*install, f"/wheels/{wheel.name}[view]")
        draw_and_compare(root)
        check_without_egl(root)
        root.run(*install, f"/wheels/{wheel.name}[view,test]")
        copy_tests(root)
        say("running the tests against the installed wheel")
        return run_pytest(root, "/opt/venv/bin/python", arguments)


# ---- arm64 -------------------------------------------------------------------------------------------------


def register_qemu() -> None:
    """Makes Linux run programs for arm64 in qemu, as Debian's own service does where a system was booted."""
    if not (BINFMT / "register").exists():
        run("mount", "-t", "binfmt_misc", "none", BINFMT)
    if not (BINFMT / "qemu-aarch64").exists():
        (BINFMT / "register").write_text(QEMU.read_text())


def unpack(path: Path) -> None:
    """Unpacks the packages of a foreign root: configuring them takes minutes, and Python needs none of it."""
    archives = path / "var/cache/apt/archives"
    for archive in sorted(archives.glob("*.deb")):
        run("sh", "-c", f"dpkg-deb --fsys-tarfile '{archive}' | tar -x --keep-directory-symlink -C '{path}'")
        archive.unlink()
    if (path / "proc").is_symlink():  # what debootstrap leaves in some containers
        (path / "proc").unlink()
    (path / "proc").mkdir(exist_ok=True)


def install_for_arm(root: Root, wheel: Path, version: str) -> None:
    """Installs with the pip of this system: under qemu it would take minutes."""
    folder = root.path / f"usr/local/lib/python{version}/dist-packages"
    needed = (wheel, "pytest>=9", "pytest-xdist>=3.8")
    pip("install", *foreign(version, "aarch64"), f"--target={folder}", "--no-compile", *needed)


def test_arm(wheel: Path, suite: str, arguments: list[str]) -> int:
    register_qemu()
    with fresh_root(suite, "arm64") as root:
        say(f"making a root of Debian {suite} for arm64")
        bootstrap(root.path, suite, ("python3",), "--foreign", "--arch=arm64")
        unpack(root.path)
        install_for_arm(root, wheel, python_version(root))
        copy_tests(root)
        say("saving this processor's results")
        results = root.path / "root/results.pickle"
        run(sys.executable, CHECKOUT / "tests/test_other_processor.py", results)
        say("running the tests under qemu")
        chosen = any(argument.startswith("tests/") for argument in arguments)
        tests = [] if chosen else list(ARM_TESTS)
        return run_pytest(root, "python3", [*arguments, *tests], SKINPY_RESULTS=f"/root/{results.name}")


def main(kind: str, wheel: str, *arguments: str) -> int:
    if os.geteuid() != 0:
        sys.exit("roots: only root can make a root and mount folders for it. Run the command with sudo.")
    for program, package in NEEDED[kind].items():
        if not shutil.which(program):
            sys.exit(f"roots: {program} is not here. On Debian: apt-get install {package}")
    if not Path(wheel).is_file():
        sys.exit(f"roots: there is no wheel {wheel} in {Path.cwd()}")
    test = {"wheel": test_wheel, "arm": test_arm}[kind]
    return test(Path(wheel).resolve(), os.environ.get("SKINPY_ROOT") or "bookworm", list(arguments))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
