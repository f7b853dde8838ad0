"""What a wheel says of the things that it carries: their licenses, and a list with versions (an SBOM).

The licenses go to the folder `licenses` of the wheel's `.dist-info` (PEP 639), the list to its folder `sboms`
(PEP 770), as CycloneDX writes it in JSON.
"""

import importlib.metadata
import json
import re
import sys
import tempfile
from email.parser import Parser
from pathlib import Path
from urllib.parse import quote

from wheel_compiler import run, zig
from wheel_libraries import Source

COMMON_LICENSES = r"/usr/share/common-licenses/[\w.+-]*\w"
#: What zig links in: the part, its license, and the file in zig's folder that has the license's text.
ZIG_PARTS = (
    ("libcxx", "Apache-2.0 WITH LLVM-exception", "lib/libcxx/LICENSE.TXT"),
    ("libcxxabi", "Apache-2.0 WITH LLVM-exception", "lib/libcxxabi/LICENSE.TXT"),
    ("libunwind", "Apache-2.0 WITH LLVM-exception", "lib/libunwind/LICENSE.TXT"),
    ("compiler-rt", "MIT", "LICENSE"),
    ("glibc-start-files", "LGPL-2.1-or-later WITH GCC-exception-2.0", "lib/libc/glibc/LICENSES"),
)


def license_text(source: Source) -> str:
    """What Debian says of a package's copyright, with the texts that it refers to."""
    text = source.copyright.read_text(encoding="utf-8")
    common = sorted(set(re.findall(COMMON_LICENSES, text)))
    return "\n\n".join([text, *(f"{path}:\n\n{Path(path).read_text()}" for path in common)])


def license_texts(sources: list[Source]) -> dict[str, str]:
    """Names and texts of the license files."""
    texts = {f"{source.library.name}.txt": license_text(source) for source in sources}
    for name, _, path in ZIG_PARTS:
        texts[f"{name}.txt"] = (zig().parent / path).read_text(encoding="utf-8")
    return texts


def component(name: str, version: str, license: str, purl: str) -> dict[str, object]:
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [{"expression": license}],
        "purl": purl,
    }


def components(sources: list[Source]) -> list[dict[str, object]]:
    listed = []
    for source in sources:
        name, version = source.library.name, source.version
        purl = f"pkg:deb/debian/{name}@{quote(version, safe='')}?arch=source"
        listed.append(component(name, version, source.library.license, purl))
    version = importlib.metadata.version("ziglang")
    for name, license, _ in ZIG_PARTS:
        listed.append(component(name, version, license, f"pkg:pypi/ziglang@{version}#{name}"))
    return listed


def bill_of_materials(name: str, version: str, license: str, sources: list[Source]) -> str:
    """The list; without a time or a serial number, so that one commit gives the same bytes."""
    wheel = component(name, version, license, f"pkg:pypi/{name}@{version}")
    parts = components(sources)
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": wheel},
        "components": parts,
        "dependencies": [
            {"ref": wheel["bom-ref"], "dependsOn": sorted(str(part["bom-ref"]) for part in parts)}
        ],
    }
    return json.dumps(bill, indent=2) + "\n"


def add_contents(wheel: Path, sources: list[Source]) -> None:
    """Add licenses and list to a wheel, in place."""
    with tempfile.TemporaryDirectory() as name:
        run(sys.executable, "-m", "wheel", "unpack", "--dest", name, wheel)
        (unpacked,) = Path(name).iterdir()
        (information,) = unpacked.glob("*.dist-info")
        texts = license_texts(sources)
        for file, text in texts.items():
            (information / "licenses" / file).write_text(text, encoding="utf-8")
        metadata = information / "METADATA"
        text = metadata.read_text(encoding="utf-8")
        listed = "".join(f"License-File: {file}\n" for file in texts)
        metadata.write_text(text.replace("License-File: LICENSE\n", f"License-File: LICENSE\n{listed}", 1))
        fields = Parser().parsestr(text)
        (information / "sboms").mkdir(exist_ok=True)
        bill = bill_of_materials(fields["Name"], fields["Version"], fields["License-Expression"], sources)
        (information / "sboms/skinpy.cdx.json").write_text(bill, encoding="utf-8")
        # Who may write the files of a checkout depends on the user's umask. In a wheel it is always the same.
        for path in filter(Path.is_file, unpacked.rglob("*")):
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", wheel.parent, unpacked)
