"""The notebooks: what is committed of them, that it is what the script writes, and that they run."""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import HANGS, ROOT

import skinpy

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 600_000  # bytes of a notebook with its outputs; a page on the web shows it without waiting
#: Folders of somebody's machine, in text: /home/ann/x, /tmp/ipykernel_1/2.py, C:\Users
MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|Users|tmp|var|opt|usr|work|mnt|private)/\w|[A-Z]:\\Users|ipykernel_\d"
)
ANSWER = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)

named = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def words(notebook: dict[str, Any]) -> Iterator[str]:
    """All text of a notebook, its outputs' too; not the pictures."""
    for cell in notebook["cells"]:
        yield text(cell["source"])
        for output in cell.get("outputs", []):
            yield text(output.get("text", ""))
            yield from output.get("traceback", [])
            yield from (text(data) for kind, data in output.get("data", {}).items() if "image" not in kind)


# ---- what is committed -----------------------------------------------------------------------------------


def test_the_page_of_the_folder_lists_them_all() -> None:
    listed = re.findall(r"\]\((\w+\.ipynb)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert listed == [path.name for path in NOTEBOOKS]
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@named
def test_it_was_run_from_first_to_last(path: Path) -> None:
    code = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {"stream", "execute_result", "display_data"}
    assert not [output["text"] for output in outputs if output.get("name") == "stderr"]
    assert [output for output in outputs if "image/png" in output.get("data", {})], "it shows no picture"


@named
def test_it_is_small_and_tells_nothing_of_the_machine(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    notebook = read(path)
    assert [found.group() for part in words(notebook) for found in MACHINE_PATH.finditer(part)] == []
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert all(not cell["metadata"] for cell in notebook["cells"])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("/home/ann/skinpy/model.py", True),
        ("File /tmp/ipykernel_12/3.py", True),
        (r"C:\Users\ann", True),
        ("a / b, docs/home/x, https://example.org/home/x", False),
    ],
)
def test_paths_of_machines_are_known(words: str, found: bool) -> None:
    assert bool(MACHINE_PATH.search(words)) == found


@named
def test_links_lead_somewhere(path: Path) -> None:
    prose = [text(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "markdown"]
    links = [link for part in prose for link in re.findall(r"\]\(([^)#\s]+)\)", part)]
    assert [link for link in links if "://" not in link and not (FOLDER / link).exists()] == []


@named
def test_the_script_would_write_the_same(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: the extra 'dev' has it")
    pytest.importorskip("nbclient", reason="nbclient is not installed: the extra 'dev' has it")
    script = runpy.run_path(str(FOLDER / "execute.py"))
    again = script["normalized"](nbformat.read(path, as_version=4))
    assert nbformat.writes(again) + "\n" == path.read_text(encoding="utf-8")
    assert script["notebooks"]() == NOTEBOOKS


# ---- that they run ---------------------------------------------------------------------------------------


def with_answers(notebook: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The notebook with a cell of code behind each answer to an exercise, and how many these are."""
    cells, count = [], 0
    for cell in notebook["cells"]:
        cells.append(cell)
        for answer in ANSWER.findall(text(cell["source"]) if cell["cell_type"] == "markdown" else ""):
            blank = {"execution_count": None, "metadata": {}, "outputs": []}
            cells.append({"cell_type": "code", "id": f"answer-{count}", "source": answer, **blank})
            count += 1
    return notebook | {"cells": cells}, count


@pytest.mark.ci
@named
def test_it_runs_with_the_answers(path: Path, tmp_path: Path) -> None:
    for package in ("nbmake", "ipykernel", "matplotlib", "jupyter_rfb"):
        pytest.importorskip(package, reason=f"{package} is not installed: the extra 'dev' has it")
    pytest.importorskip("moderngl", reason="the notebooks draw: install the extra 'view'")
    notebook, answers = with_answers(read(path))
    assert answers >= 3
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / path.name).write_text(json.dumps(notebook), encoding="utf-8")
    here = Path(skinpy.__file__).parents[1]  # the kernel takes the skinpy that is tested
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")]),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "JUPYTER_DATA_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    command = ("-m", "pytest", "--nbmake", "--nbmake-timeout=3000", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, *command, "-c", ROOT / "pyproject.toml", folder / path.name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert [left.name for left in folder.iterdir()] == [path.name], "it wrote files beside itself"
