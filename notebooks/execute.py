"""Executes the notebooks of this folder and writes them back with their outputs.

    python notebooks/execute.py [NOTEBOOK ...]     # all, or those named

Each gets a fresh kernel. Needs the extras `view` and `dev`. What differs from machine
to machine without telling anything is left out: times of execution, versions, the state
of widgets. A notebook that fails is not written.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: The live parts of widgets need the kernel that made them; their pictures stay.
_LIVE = "application/vnd.jupyter.widget-view+json"


def notebooks() -> list[Path]:
    """All notebooks of this folder, in their order."""
    return sorted(FOLDER.glob("[0-9]*.ipynb"))


def executed(path: Path) -> NotebookNode:
    """The notebook, run from its first cell to its last in its folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    return normalized(client.execute())


def normalized(notebook: NotebookNode) -> NotebookNode:
    """Without what only the machine that ran it knows; cells numbered from 1."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02d}"
        cell.metadata = nbformat.from_dict(
            {k: v for k, v in cell.metadata.items() if k == "tags"}
        )
        for output in cell.get("outputs", []):
            if "data" in output:
                output.metadata = nbformat.from_dict({})
                output.data.pop(_LIVE, None)
    return notebook


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Executes the notebooks and writes them back."
    )
    parser.add_argument("notebook", nargs="*", type=Path, help="which (all)")
    for path in parser.parse_args(arguments).notebook or notebooks():
        start = time.perf_counter()
        nbformat.write(executed(path), path)
        seconds, size = time.perf_counter() - start, path.stat().st_size
        print(f"{path.name}: {seconds:.0f} s, {size:,} bytes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
