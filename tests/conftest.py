"""What all tests share: where the shared test data stand, and which tests are for the full run alone.

SKINPY_DATA names the folder of the shared test data; without it ../shared/data beside the checkout is
taken. A test that needs them asks for the fixture `shared_data` or calls `data_file`; without the data it
is skipped by name, and the end of the run says so. (Where tests are collected `DATA` may be listed, which
then gives nothing.)
SKINPY_CI=1 asks for everything: tests marked `ci` (they install packages, or run linters) are skipped
without it. With it a test that skips itself fails, unless what it lacks is listed in `MAY_LACK` or `EXTRAS`.

SKINPY_INSTALLED=1 says that an installed skinpy is tested without its checkout, as `sh quickstart.sh
test-wheel` does. What needs the checkout calls `needs_checkout` and is skipped by name. Here too a test that
skips itself fails, unless what it lacks is listed.

Tests marked `extras` need packages that no ordinary run installs, and are skipped by name without them.
`sh quickstart.sh test-extras` installs these packages, runs these tests and sets SKINPY_EXTRAS=1, with which
such a skip is a failure.
"""

import gc
import os
import platform
import re
import signal
import tomllib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: The metadata of the package.
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DATA = Path(os.environ.get("SKINPY_DATA") or ROOT.parent / "shared" / "data").resolve()
HAS_DATA = (DATA / "models").is_dir()
NO_DATA = f"SKINPY_DATA: no shared test data at {DATA}"
FULL_RUN = os.environ.get("SKINPY_CI") == "1"
#: Seconds after which a program that a test started is taken to hang. This says nothing about its speed: on a
#: busy machine everything takes ten times as long as on a quiet one.
HANGS = 3000.0
#: Files that take more than 15 seconds of CPU time in every run, beside those with tests for the full run.
LONG = ("corpus", "docs", "import_limits", "import_sanitized", "isolation", "viewers")
INSTALLED = os.environ.get("SKINPY_INSTALLED") == "1"
#: The paths of the core that processors of this kind may have, from the least to the best.
SIMD = ("plain", "neon") if platform.machine() == "aarch64" else ("plain", "avx2", "avx512")
WITH_EXTRAS = os.environ.get("SKINPY_EXTRAS") == "1"

#: Why a test may be skipped in the full run: of all else quickstart.sh installs what the tests need.
MAY_LACK = re.compile(
    "|".join(
        (
            "SKINPY_DATA|shared test data",
            # what nobody installs for them
            "FREE-THREADED PYTHON|THREAD SANITIZER: docs/reliability|pymomentum-cpu is missing",
            "a free-threaded Python, which has no limited API|no other Python",
            # the machine, its system, its compiler and its user
            "this processor or this build lacks|no (avx2|avx512) here|no other core",
            "Linux|no os.fork|glibc|/dev/full|[Ll]inux's loader|old kernel|root may write",
            "no OpenGL extension|this OpenGL has no|no EGL whose context could be lost",
            "a sanitizer|THREAD SANITIZER: its programs do not run here|-fcallgraph-info",
            "none are recorded for|SKINPY_RESULTS",
            # a source archive, which has all but the repository of git
            "no git repository",
        )
    )
)

#: Why a test may be skipped where the packages of tests/extras are not installed.
EXTRAS = re.compile(
    r"SKINPY_NODE_MODULES|three\.js|node\b|JupyterLab|(numba|usd-core|hadolint|py-rattler-build) is missing"
)

#: Why a test may also be skipped where an installed skinpy is tested, in a system that has little else.
NOT_INSTALLED = re.compile(
    "needs the checkout|for the full run|mounting is not allowed"
    "|no C compiler|no Chromium|(Xvfb|strace) is not"
)


def needs_checkout() -> None:
    """Skips the test or the module that calls it where there is no checkout.

    It is for tests of the sources, builds and documentation, and of what is compiled from the sources.
    """
    if INSTALLED:
        pytest.skip("it needs the checkout", allow_module_level=True)


def data_file(*parts: str) -> Path:
    """Path of a shared test file; the test that asks for it is skipped where the data are absent."""
    if not HAS_DATA:
        pytest.skip(NO_DATA)
    path = DATA.joinpath(*parts)
    assert path.exists(), f"the shared test data lack {path.relative_to(DATA)}"
    return path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the shared test data, with models/ and goldens/ in it."""
    if not HAS_DATA:
        pytest.skip(NO_DATA)
    return DATA


@pytest.fixture(scope="session")
def objects_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the object files of one run, which the processes of pytest-xdist share."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "objects"


@pytest.fixture
def opengl() -> Iterator[None]:
    """Skips where there is no OpenGL, but not in the full run; checks its error state afterwards."""
    from skinpy.errors import GraphicsError
    from skinpy.render.gpu import context as gl

    try:
        gl.call(lambda context: None)
    except GraphicsError as error:
        if FULL_RUN or INSTALLED:
            raise
        pytest.skip(str(error))
    yield
    assert gl.call(lambda context: context.error) == "GL_NO_ERROR"


@pytest.fixture(scope="module", autouse=True)
def _only_new_objects_are_searched() -> None:
    """The garbage collector leaves alone what is older than the tests of a module.

    Many tests call gc.collect(). In a run of all tests each such call would search the objects of nearly
    nine thousand collected tests, which takes longer than most tests do.
    """
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ci: slow, for the full run alone (SKINPY_CI=1)")
    config.addinivalue_line("markers", "extras: needs what tests/extras lists (sh quickstart.sh test-extras)")
    # What a shell starts in the background ignores SIGINT, and Python then has no KeyboardInterrupt to test.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # What nohup starts ignores SIGHUP, and so would the programs that tests start to end them by it.
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def takes_long(item: pytest.Item) -> bool:
    """Whether its file is one of LONG, or does more in the full run, by FULL_RUN."""
    return item.path.stem.removeprefix("test_") in LONG or hasattr(getattr(item, "module", None), "FULL_RUN")


def pytest_sessionstart() -> None:
    import skinpy

    package = Path(skinpy.__file__).parent
    if INSTALLED and package.is_relative_to(ROOT):
        pytest.exit(f"SKINPY_INSTALLED=1, but {package} is in the checkout", returncode=4)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Files with long runs begin first: where files run side by side, the others then fill up the time.
    long = {item.path for item in items if item.get_closest_marker("ci") or takes_long(item)}
    items.sort(key=lambda item: item.path not in long)
    if FULL_RUN:
        return
    skip = pytest.mark.skip(reason="for the full run: SKINPY_CI=1")
    for item in items:
        if item.get_closest_marker("ci"):
            item.add_marker(skip)


def _no_silent_skip(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Where quickstart.sh has installed what the tests need, a skip for want of a tool is a failure."""
    if not (FULL_RUN or WITH_EXTRAS or INSTALLED) or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if INSTALLED and NOT_INSTALLED.search(reason):
        return
    if MAY_LACK.search(reason) or (EXTRAS.search(reason) and not WITH_EXTRAS):
        return
    report.outcome = "failed"
    report.longrepr = f"{reason}\nNothing is skipped in this run for want of what can be installed."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _no_silent_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _no_silent_skip(report)
    return report


def pytest_report_header() -> str:
    kind = "everything (SKINPY_CI=1)" if FULL_RUN else "without the tests marked ci (SKINPY_CI=1 adds them)"
    return f"skinpy: {kind}; shared data: {DATA if HAS_DATA else 'NONE, ' + NO_DATA}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not HAS_DATA:
        terminalreporter.write_sep("!", NO_DATA + ": the tests that need them were skipped", yellow=True)
