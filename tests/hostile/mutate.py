"""Loads mutated models, by hundreds a second, and says what became of them: `python mutate.py --help`.

Each input is given by --seed and its number alone: a model of seed_models.py (and of the shared data, where
they are) with a few bits turned, bytes or words at their edges, pieces cut, inserted or doubled, numbers
exchanged. Each goes through skinpy.load, limits and all, in one interpreter per job that must live to the
end; what makes it misbehave (see judge.py) is saved. The exit status is 1 where anything was saved.
"""

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]  # skinpy itself is the installed one, or that of PYTHONPATH

import judge  # noqa: E402
import seed_models  # noqa: E402
from seed_models import Seed  # noqa: E402

import skinpy  # noqa: E402

MOST_GROWTH = 64 << 20  # bytes of memory that this process may come to use more than at first
WARM_UP = 200  # inputs before that is measured
SLACK = 1.0  # seconds over its limit that a load may take

# ---- mutations -----------------------------------------------------------------------------------

EDGES = {
    1: (0, 1, 0x7F, 0x80, 0xFE, 0xFF),
    2: (0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF),
    4: (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001),
    8: (0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0x7FF0000000000000, 0x7FF8000000000000),
}
TOKENS = (
    *("0", "-1", "1", "2147483647", "-2147483648", "4294967295", "4294967296", "9223372036854775808"),
    *("65535", "65536", "1e30", "-1e30", "1e39", "1e-45", "1e400", "nan", "inf", "-inf", "0.0", "-0.0"),
    *("0x7fffffff", "1e", ".", "-", "", "1,5", "1" * 400, "99999999", "1000000000"),
)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
NEAR = (-64, -8, -4, -2, -1, 1, 2, 3, 4, 8, 16, 64)


def flip_bit(rng: random.Random, data: bytearray, text: bool) -> None:
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)


def set_edge(rng: random.Random, data: bytearray, text: bool) -> None:
    size = rng.choice((1, 2, 4, 4, 8))
    at = rng.randrange(max(len(data) - size, 0) + 1)
    if rng.random() < 0.5:  # counts and offsets mostly stand where they are aligned
        at -= at % size
    order = "little" if rng.random() < 0.8 else "big"
    data[at : at + size] = rng.choice(EDGES[size]).to_bytes(size, order)  # type: ignore[arg-type]


def shift_word(rng: random.Random, data: bytearray, text: bool) -> None:
    """A number that is off by a little: a count, an offset, an index."""
    size = rng.choice((1, 2, 4))
    at = rng.randrange(max(len(data) - size, 0) + 1)
    at -= at % size
    value = int.from_bytes(data[at : at + size], "little") + rng.choice(NEAR)
    data[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "little")


def cut_end(rng: random.Random, data: bytearray, text: bool) -> None:
    del data[rng.randrange(len(data)) :]


def cut_piece(rng: random.Random, data: bytearray, text: bool) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 2, 4, 16, 64, 256))]


def insert_piece(rng: random.Random, data: bytearray, text: bool) -> None:
    at = rng.randrange(len(data))
    size = rng.choice((1, 2, 4, 16, 64))
    data[at:at] = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size), b"{" * size, b"[" * size))


def double_piece(rng: random.Random, data: bytearray, text: bool) -> None:
    at, size = rng.randrange(len(data)), rng.choice((1, 4, 16, 64, 256, 1024))
    data[at:at] = data[at : at + size] * rng.choice((1, 1, 1, 2, 8))


def move_piece(rng: random.Random, data: bytearray, text: bool) -> None:
    at, to, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.choice((2, 4, 16, 64))
    data[to : to + size] = data[at : at + size]


def swap_numbers(rng: random.Random, data: bytearray, text: bool) -> None:
    """In text: one number in another one's place."""
    found = list(itertools.islice(NUMBER.finditer(data), 5000))
    if len(found) < 2:
        return flip_bit(rng, data, text)
    value = bytes(rng.choice(found)[0])
    data[slice(*rng.choice(found).span())] = value


def set_number(rng: random.Random, data: bytearray, text: bool) -> None:
    """In text: a number becomes one at an edge, or one close by."""
    found = list(itertools.islice(NUMBER.finditer(data), 5000))
    if not found:
        return flip_bit(rng, data, text)
    one = rng.choice(found)
    token = rng.choice(TOKENS)
    if rng.random() < 0.3 and b"." not in one[0] and b"e" not in one[0].lower():
        token = str(int(one[0]) + rng.choice(NEAR))
    data[slice(*one.span())] = token.encode()


def swap_words(rng: random.Random, data: bytearray, text: bool) -> None:
    """In text: one word in another one's place."""
    found = list(itertools.islice(re.finditer(rb"\w+|\"[^\"\n]*\"", data), 5000))
    if len(found) < 2:
        return flip_bit(rng, data, text)
    word = bytes(rng.choice(found)[0])
    data[slice(*rng.choice(found).span())] = word


Mutation = Callable[[random.Random, bytearray, bool], None]
ANY: tuple[Mutation, ...] = (flip_bit, set_edge, cut_end, cut_piece, insert_piece, double_piece, move_piece)
OF_TEXT: tuple[Mutation, ...] = (*ANY, *(swap_numbers, set_number) * 4, swap_words, swap_words)
OF_BYTES: tuple[Mutation, ...] = (*ANY, *(set_edge, shift_word) * 3, flip_bit)


def mutate(rng: random.Random, seed: Seed) -> bytes:
    """The seed's data after one to six mutations."""
    data, text = bytearray(seed.data), seed.is_text
    mixed = seed.format in ("glb", "vrm")  # text and bytes in one file
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        if not data:
            break
        as_text = rng.random() < 0.5 if mixed else text
        rng.choice(OF_TEXT if as_text else OF_BYTES)(rng, data, as_text)
    return bytes(data)


# ---- one job -------------------------------------------------------------------------------------


def all_seeds(formats: set[str]) -> dict[str, list[Seed]]:
    """By format, in one order everywhere, so that a number means the same input."""
    seeds = [seed for seed in seed_models.own_seeds() if seed.format in formats]
    data = Path(os.environ.get("SKINPY_DATA") or HERE.parent.parent.parent / "shared" / "data")
    for folder in ("models", "fbx"):
        if (data / folder).is_dir():
            seeds += seed_models.shared_seeds(data / folder, formats)
    named: dict[str, list[Seed]] = {}
    for seed in seeds:
        named.setdefault(seed.format, []).append(seed)
    return named


def made_input(seeds: dict[str, list[Seed]], seed: int, number: int) -> tuple[Seed, bytes, bool]:
    """Model, data, and whether it is loaded from bytes and not from a file."""
    rng = random.Random(f"{seed}/{number}")
    model = rng.choice(seeds[sorted(seeds)[number % len(seeds)]])
    return model, mutate(rng, model), rng.random() < 0.2


def write(folder: Path, seed: Seed, data: bytes) -> Path:
    for name, beside in seed.beside:
        (folder / name).write_bytes(beside)
    path = folder / f"model.{seed.format}"
    path.write_bytes(data)
    return path


def load_one(path: Path, data: bytes, from_bytes: bool, seconds: float) -> judge.Outcome:
    limits = skinpy.Limits(seconds=seconds)
    if from_bytes:
        return judge.outcome_of(
            lambda: skinpy.load(data, format=path.suffix, limits=limits), with_check=False
        )
    return judge.outcome_of(lambda: skinpy.load(path, limits=limits), with_check=False)


def run_job(arguments: argparse.Namespace) -> None:
    """Loads this job's share; the table and the number it is at stand in files that outlive it."""
    seeds = all_seeds(set(arguments.formats))
    counts: Counter[tuple[str, str]] = Counter()
    own = arguments.folder / f"job{arguments.job}"
    own.mkdir()
    end = time.monotonic() + 60 * arguments.minutes
    at_first, late, faulty, peak = 0, 0, 0, 0
    with open(own / "number", "w+") as at:
        for turn, number in enumerate(range(arguments.job, arguments.count, arguments.jobs)):
            if time.monotonic() > end:
                break
            os.pwrite(at.fileno(), f"{number:12}".encode(), 0)
            model, data, from_bytes = made_input(seeds, arguments.seed, number)
            path = write(own, model, data)
            outcome = load_one(path, data, from_bytes, arguments.seconds)
            counts[model.format, "overflowing" if outcome.overflows else outcome.kind] += 1
            late += outcome.seconds > arguments.seconds + SLACK
            memory = judge.resident_bytes()
            peak = max(peak, memory)
            at_first = memory if turn <= WARM_UP else at_first
            faults = list(outcome.faults)
            if memory > at_first + MOST_GROWTH:
                faults.append(f"memory grew from {at_first >> 20} to {memory >> 20} MiB")
                at_first = memory
            if faults:
                faulty += 1
                save(arguments.save, number, model, data, "; ".join(faults))
            for name, _ in model.beside:
                (own / name).unlink()
            path.unlink()
            if turn % 50 == 0:
                save_state(own, counts, late, faulty, peak - at_first)
    save_state(own, counts, late, faulty, max(peak - at_first, 0))
    (own / "done").touch()


def save(folder: Path, number: int, seed: Seed, data: bytes, words: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}_{seed.name}.{seed.format}").write_bytes(data)
    with open(folder / "faults.txt", "a") as file:
        file.write(f"{number} {seed.name}.{seed.format}: {words}\n")


def save_state(own: Path, counts: Counter[tuple[str, str]], late: int, faulty: int, growth: int) -> None:
    rows = [[*key, count] for key, count in counts.items()]
    state = {"counts": rows, "late": late, "faulty": faulty, "growth": growth}
    (own / "state.new").write_text(json.dumps(state))
    (own / "state.new").replace(own / "state")


# ---- all jobs ------------------------------------------------------------------------------------


def states(folder: Path) -> Iterator[dict[str, object]]:
    for path in sorted(folder.glob("job*/state")):
        yield json.loads(path.read_text())


def table(counts: Counter[tuple[str, str]]) -> str:
    """A row for each format, a column for each outcome that occurred."""
    kinds = [kind for kind in judge.KINDS if any(counts[key] for key in counts if key[1] == kind)]
    kinds += sorted({kind for _, kind in counts} - set(kinds))
    rows = [["format", *kinds, "all"]]
    formats = sorted({name for name, _ in counts})
    for name in formats:
        row = [counts[name, kind] for kind in kinds]
        rows.append([name, *(f"{one:,}" for one in row), f"{sum(row):,}"])
    sums = [sum(counts[name, kind] for name in formats) for kind in kinds]
    rows.append(["all", *(f"{one:,}" for one in sums), f"{sum(sums):,}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    cells = [[one.rjust(width) for one, width in zip(row, widths, strict=True)] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def report(folder: Path, died: list[str], seconds: float, save_to: Path) -> int:
    counts: Counter[tuple[str, str]] = Counter()
    late = faulty = growth = 0
    for state in states(folder):
        for name, kind, count in state["counts"]:  # type: ignore[attr-defined]
            counts[name, kind] += count
        late += state["late"]  # type: ignore[operator]
        faulty += state["faulty"]  # type: ignore[operator]
        growth = max(growth, state["growth"])  # type: ignore[call-overload]
    total = sum(counts.values())
    print(table(counts))
    print(
        f"{total:,} inputs in {seconds:.0f} s, {total / max(seconds, 1e-9):.0f} a second; "
        f"interpreters that died: {len(died)}; faults: {faulty}; over time by {SLACK} s: {late}; "
        f"most memory over the start: {growth >> 20} MiB"
    )
    for words in died:
        print(words)
    if faulty:
        print(f"saved in {save_to}, with faults.txt")
    return int(bool(died or faulty))


def run_jobs(arguments: argparse.Namespace) -> int:
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="skinpy-mutate-") as name:
        folder = Path(name)
        common = [sys.executable, str(Path(__file__).resolve()), *sys.argv[1:], "--folder", name, "--job"]
        jobs = [subprocess.Popen([*common, str(job)]) for job in range(arguments.jobs)]
        try:
            for job in jobs:
                job.wait()
        except KeyboardInterrupt:
            for job in jobs:
                with suppress(ProcessLookupError):
                    job.kill()
                job.wait()
            report(folder, [], time.monotonic() - begin, arguments.save)
            return 130
        died = []
        for number, job in enumerate(jobs):
            if job.returncode or not (folder / f"job{number}/done").exists():
                at = folder / f"job{number}/number"
                where = at.read_text().strip() if at.exists() else "none"
                died.append(
                    f"job {number} ended with {job.returncode} at input {where} of seed {arguments.seed}"
                )
        return report(folder, died, time.monotonic() - begin, arguments.save)


def show(arguments: argparse.Namespace) -> int:
    """One input once more: written to the folder of --save, loaded, judged."""
    model, data, from_bytes = made_input(all_seeds(set(arguments.formats)), arguments.seed, arguments.only)
    arguments.save.mkdir(parents=True, exist_ok=True)
    path = write(arguments.save, model, data)
    print(path, "from bytes" if from_bytes else "", load_one(path, data, from_bytes, arguments.seconds))
    return 0


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000, help="inputs (2000)")
    parser.add_argument("--seed", type=int, default=1, help="other inputs with each (1)")
    parser.add_argument("--jobs", type=int, default=2, help="interpreters at once (2)")
    parser.add_argument("--formats", nargs="+", default=sorted(skinpy.DEFAULT_FORMATS), help="suffixes")
    parser.add_argument("--seconds", type=float, default=5.0, help="limit of one load (5)")
    parser.add_argument("--minutes", type=float, default=1e6, help="end after so many")
    parser.add_argument("--save", type=Path, default=Path("mutations"), help="folder for what misbehaves")
    parser.add_argument(
        "--only", type=int, help="load the input of this number once more, and say how it went"
    )
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--job", type=int, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main() -> int:
    arguments = parse()
    if arguments.only is not None:
        return show(arguments)
    if arguments.job is not None:
        run_job(arguments)
        return 0
    return run_jobs(arguments)


if __name__ == "__main__":
    sys.exit(main())
