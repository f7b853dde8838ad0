"""How much of the reader of blocks its fuzzer's seeds and the core's own tests reach, told by gcov."""

import re
import shutil
from pathlib import Path

import pytest
from c_compiler import SOURCES, compile_objects, compiler, include_flags, run
from conftest import ROOT
from test_fuzzers import seeds

READER = ("sk_block_open", "sk_block_check", "sk_block_rows", "sk_block_clips", "sk_block_extras")
LEAST = 95.0  # percent of the lines

#: Gives each file that is named to the fuzzer's door.
REPLAY = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int main(int count, char **paths) {
  static uint8_t data[1 << 20];
  for (int i = 1; i < count; i++) {
    FILE *file = fopen(paths[i], "rb");
    if (!file) return 1;
    LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, file));
    fclose(file);
  }
  return 0;
}
"""


def lines_reached(folder: Path) -> dict[str, float]:
    """Percent of each source's lines, of all that ran up to now."""
    found = {}
    for name in READER:
        said = run("gcov", "-n", "-o", folder, folder / f"{name}.o").stdout
        part = re.search(rf"File '[^']*/{name}\.c'\nLines executed:([\d.]+)%", said)
        assert part, said
        found[name] = float(part[1])
    return found


@pytest.mark.ci
def test_the_reader_is_reached(tmp_path: Path, objects_folder: Path) -> None:
    if shutil.which("gcov") is None or "Free Software Foundation" not in run(*compiler(), "--version").stdout:
        pytest.skip("gcov and gcc, which belong together, are not on PATH")
    (tmp_path / "replay.c").write_text(REPLAY)
    # Only the reader is measured, so one set of the SIMD kernels is enough.
    flags = ("-std=c11", "-O0", "-ffp-contract=off", "-DSK_HAS_AVX512=0", *include_flags("cglm"))
    objects: list[Path] = []
    others: list[Path] = []
    for source in sorted(SOURCES.glob("core/**/*.c")):
        if source.stem in READER:  # here, where gcov looks for what it counts
            objects.append(tmp_path / f"{source.stem}.o")
            done = run(*compiler(), *flags, "--coverage", "-c", source, "-o", objects[-1])
            assert done.returncode == 0, done.stdout
        else:
            others.append(source)
    objects += compile_objects(objects_folder, others, flags)
    link = ("--coverage", "-lm", "-pthread")
    door = (ROOT / "tests/hostile/fuzz_reader.c", tmp_path / "replay.c")
    tests = sorted((ROOT / "tests/core").glob("*.c"))
    for name, sources in (("replay", door), ("core_tests", tests)):
        done = run(*compiler(), *flags, *objects, *sources, "-o", tmp_path / name, *link)
        assert done.returncode == 0, done.stdout
    assert run(tmp_path / "replay", *sorted(seeds(tmp_path / "seeds", False).iterdir())).returncode == 0
    by_seeds = lines_reached(tmp_path)
    assert run(tmp_path / "core_tests").returncode == 0
    by_all = lines_reached(tmp_path)
    print("lines of the reader reached, percent; by the seeds:", by_seeds, "and the core tests:", by_all)
    assert min(by_all.values()) >= LEAST
    assert min(by_seeds.values()) > 40, "the seeds are poor"
