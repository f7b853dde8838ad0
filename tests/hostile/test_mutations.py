"""Mutated models by the thousand: the interpreter that loads them lives on, and so does all that it holds.

mutate.py does the work, in processes of its own; SKINPY_MUTATIONS says how many inputs (20,000 in the full
run, a few hundred otherwise) and SKINPY_MUTATION_SEED which ones.
"""

import os
import random
import re
import sys
from pathlib import Path

import mutate
import pytest
import seed_models
from c_compiler import run
from conftest import FULL_RUN, HANGS

import skinpy

HERE = Path(__file__).parent

COUNT = int(os.environ.get("SKINPY_MUTATIONS", "20000" if FULL_RUN else "340"))
SEED = os.environ.get("SKINPY_MUTATION_SEED", "1")


@pytest.mark.parametrize("seed", seed_models.own_seeds(), ids=lambda seed: f"{seed.name}.{seed.format}")
def test_seeds_are_sound(seed: seed_models.Seed, tmp_path: Path) -> None:
    """What never loads is a poor seed: mutations of it all end at the same refusal."""
    outcome = mutate.load_one(mutate.write(tmp_path, seed, seed.data), seed.data, False, 30)
    assert outcome.kind == "model", outcome.words
    assert not outcome.faults and not outcome.overflows


def test_every_default_format_has_a_seed() -> None:
    assert {seed.format for seed in seed_models.own_seeds()} == set(skinpy.DEFAULT_FORMATS)


def test_a_number_means_one_input() -> None:
    seeds = {"glb": [seed for seed in seed_models.own_seeds() if seed.format == "glb"]}
    first = [mutate.made_input(seeds, 3, number)[1] for number in range(40)]
    assert first == [mutate.made_input(seeds, 3, number)[1] for number in range(40)]
    assert len(set(first)) > 30
    assert sum(data != seeds["glb"][0].data for data in first) > 30


@pytest.mark.parametrize(
    "mutation", sorted({*mutate.OF_TEXT, *mutate.OF_BYTES}, key=lambda one: one.__name__)
)
def test_every_mutation_changes_something_and_takes_anything(mutation: mutate.Mutation) -> None:
    rng = random.Random(1)
    text, other = b'v 1.5 2e3 -4 "name" word 17 18 19 20 21 22\n' * 3, bytes(range(200))
    for data in (text, other):
        changed = 0
        for _ in range(50):
            made = bytearray(data)
            mutation(rng, made, data is text)
            changed += made != data
        assert changed >= 15
    for size in range(1, 10):
        mutation(rng, bytearray(b"1 " * size)[:size], True)


def test_nothing_that_is_mutated_harms_the_interpreter(tmp_path: Path) -> None:
    options = (
        "--count",
        str(COUNT),
        "--seed",
        SEED,
        "--seconds",
        "1",
        "--jobs",
        "2",
        "--save",
        tmp_path / "found",
    )
    done = run(sys.executable, HERE / "mutate.py", *options, timeout=HANGS)
    print(done.stdout)
    found = tmp_path / "found/faults.txt"
    assert done.returncode == 0, done.stdout + (found.read_text() if found.exists() else "")
    assert f"{COUNT:,} inputs in" in done.stdout and "interpreters that died: 0; faults: 0" in done.stdout
    models = re.search(r"^\| +all \| +([\d,]+)", done.stdout, re.MULTILINE)
    assert models and int(models[1].replace(",", "")) > COUNT // 10, (
        "hardly anything loads: the seeds are poor"
    )


def test_a_fault_would_be_seen(tmp_path: Path) -> None:
    """An interpreter that dies, and an exception of another kind: both end with status 1 and are told."""
    program = f"""
import sys; sys.path.insert(0, {str(HERE)!r}); sys.argv = ["mutate.py"]
import mutate
from pathlib import Path
arguments = mutate.parse(["--count", "3", "--formats", "obj", "--save", {str(tmp_path / "found")!r}])
arguments.folder, arguments.job, arguments.jobs = Path({str(tmp_path)!r}), 0, 1
mutate.skinpy.load = lambda *a, **k: {{}}["odd"]
mutate.run_job(arguments)
sys.exit(mutate.report(arguments.folder, ["job 1 ended with -6"], 1.0, arguments.save))
"""
    done = run(sys.executable, "-c", program)
    assert done.returncode == 1, done.stdout
    assert "interpreters that died: 1; faults: 3" in done.stdout and "job 1 ended with -6" in done.stdout
    assert "KeyError is no error of ours" in (tmp_path / "found/faults.txt").read_text()
    assert len(list((tmp_path / "found").glob("*.obj"))) == 3
