"""The compiler that builds wheels: clang from the package `ziglang`, for one processor and an old glibc.

zig brings what a cross-compiler needs: the C library's headers and the names and versions of its symbols, for
every processor and every glibc, and the source of LLVM's C++ library, which it links statically. So what it
builds runs on any system with that glibc or a newer one, whatever the system that builds has.
"""

import subprocess
import sys
from pathlib import Path

PROCESSORS = ("x86_64", "aarch64")
GLIBC = (2, 28)  # the oldest that pip's tag manylinux_2_28 promises

#: Of what is linked in, only what is called gets into the wheel. (-O2 also tells zig to add no sanitizer.)
COMPILE = ("-O2", "-DNDEBUG", "-g0", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections")

#: All names that skinpy's shared objects export. Without this list they would also export functions of
#: their C++ library, such as `operator new`, and Assimp brings another C++ library into the process.
EXPORTS = "{ global: PyInit_*; sk_importer_*; local: *; };\n"


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command writes; ends the program with the command's output where it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\n{' '.join(map(str, command))} failed (its output is above)")
    return done.stdout


def say(text: str) -> None:
    print(f"wheel: {text}", flush=True)


def zig() -> Path:
    import ziglang

    return Path(ziglang.__file__).with_name("zig")


class Compiler:
    """Programs cc, c++ and ar for a processor, written into `folder`: build systems want one word."""

    def __init__(self, processor: str, folder: Path) -> None:
        self.processor = processor
        self.folder = folder
        folder.mkdir(parents=True)
        # The target is named even where it is the processor at hand: zig would use all that this one has.
        target = f"-target {processor}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        for name in ("cc", "c++"):
            self.write(name, f"{name} {target}")
        self.write("ar", "ar")
        self.exports = folder / "exports.map"
        self.exports.write_text(EXPORTS)

    def write(self, name: str, words: str) -> None:
        script = self.folder / name
        script.write_text(f'#!/bin/sh\nexec "{zig()}" {words} "$@"\n')
        script.chmod(0o755)

    def variables(self, libraries: Path) -> dict[str, str]:
        """What setuptools reads of the environment, for binaries that are linked to what is in `libraries`.

        The folder is the first of the command, before that of Python's library, which may have others.
        """
        cc, cxx = self.folder / "cc", self.folder / "c++"
        shared = f"-shared -Wl,--version-script={self.exports}"
        return {
            "CC": str(cc),
            "CXX": str(cxx),
            "LDSHARED": f"{cc} {shared}",
            "LDCXXSHARED": f"{cxx} {shared}",
            "LDFLAGS": f"-L{libraries} -s -Wl,--gc-sections",
        }
