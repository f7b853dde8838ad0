"""The public face of `skinpy`: its names, its modules (imported late), and readable signatures."""

import inspect
import pkgutil
import pydoc
import subprocess
import sys
import types
import typing

import public_functions
import pytest

import skinpy

#: Folders without Python modules.
DATA = {"data", "shaders"}
MODULES = sorted(
    found.name
    for found in pkgutil.iter_modules(skinpy.__path__)
    if not found.name.startswith("_") and found.name not in DATA
)


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_there_when_it_is_asked_for(name: str) -> None:
    if name in ("render", "view"):
        pytest.importorskip("moderngl")
    assert python(f"import skinpy; print(skinpy.{name}.__name__)") == f"skinpy.{name}\n"


def test_the_import_brings_no_module_that_can_wait() -> None:
    code = "import sys, skinpy; names = dir(skinpy); print(*sys.modules)"
    loaded = set(python(code).split())
    assert not loaded & {"moderngl", "PIL", "matplotlib", "skinpy.rotation"}
    assert not loaded & {f"skinpy.{name}" for name in ("render", "output", "view", "storage", "kinds")}


def test_names_that_are_not_there() -> None:
    for name in ("rendering", "_storage", "os", "Renderer"):
        with pytest.raises(AttributeError, match=f"module 'skinpy' has no attribute '{name}'"):
            getattr(skinpy, name)


def test_dir_has_public_names_alone() -> None:
    pytest.importorskip("moderngl")
    names = [name for name in dir(skinpy) if not name.startswith("__")]
    assert set(skinpy.__all__) - {"__version__"} <= set(names)
    others = set(names) - set(skinpy.__all__)
    assert others == {"explaining", "kinds", "output", "render", "storage", "view"}
    assert all(isinstance(getattr(skinpy, name), types.ModuleType) for name in others)


def test_help_does_without_moderngl() -> None:
    code = """
import sys
sys.modules["moderngl"] = None
import pydoc, skinpy
assert not {"render", "view"} & {*dir(skinpy)}
assert "character" in pydoc.render_doc(skinpy)
try:
    skinpy.render
except ImportError as error:
    assert "skinpy-anim[view]" in str(error)
else:
    raise AssertionError
"""
    python(code)


def test_signatures_can_be_read() -> None:
    """Signatures show neither private types of NumPy nor quotes within quotes."""
    pytest.importorskip("moderngl")
    found = public_functions.public_callables()
    assert len(found) > 250
    long = {name: words for name, thing in found.items() if len(words := signature(thing)) > 800}
    assert not long
    assert [name for name, thing in found.items() if "_typing" in signature(thing)] == []
    assert [name for name, thing in found.items() if "\"'" in signature(thing)] == []
    assert "_typing" not in pydoc.render_doc(skinpy.Model.pose)


def signature(thing: typing.Any) -> str:
    return str(inspect.signature(thing))


@pytest.mark.parametrize("thing", [skinpy.rotation.slerp, skinpy.Mask.array, skinpy.Limits.__init__])
def test_hints_have_types_behind_them(thing: typing.Any) -> None:
    """This holds where all types exist at run time; many exist for the type checker only."""
    assert typing.get_type_hints(thing)
