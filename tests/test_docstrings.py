"""Docstrings of public names have NumPy's sections: every parameter, result and error is described.

The rules are those of numpydoc's validation; `ENFORCED` lists the ones that hold here, with reasons.
"""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import public_functions
import pytest
from conftest import needs_checkout

import skinpy

pytest.importorskip("moderngl", reason="skinpy.render and skinpy.view need the extra 'view'")
needs_checkout()
validation = pytest.importorskip("numpydoc.validate", reason="numpydoc comes with the extra 'dev'")

#: Modules with public classes in addition to those that tests/public_functions.py inspects.
FURTHER_MODULES = ("skinpy.explaining", "skinpy.checking", "skinpy.controller", "skinpy.state_machine")

#: Rules of numpydoc that hold, with reasons. Rules of layout (GL01, GL02) do not hold, nor do rules that
#: demand an extended summary (ES01), a "See Also" (SA01) or an example (EX01) for every name: many names are
#: clear without them.
ENFORCED = {
    "GL03": "one empty line separates paragraphs",
    "GL05": "tabs have different widths in different programs",
    "GL06": "a misspelled section would be read as text",
    "GL07": "readers find the sections in the same order everywhere",
    "GL08": "every public name has a docstring",
    "GL10": "a directive without its colons would be read as text",
    "SS01": "tables of members show the summary",
    "SS02": "the summary is a sentence",
    "SS03": "the summary is a sentence",
    "SS04": "tables of members show the summary",
    "SS05": "all functions have the same form: the imperative",
    "SS06": "tables of members and tooltips show one line",
    "PR01": "every parameter is described",
    "PR02": "every described parameter exists",
    "PR03": "parameters are described in the order of the signature",
    "PR04": "the type has the shape, the unit and the default",
    "PR05": "a type is not a sentence",
    "PR06": "types have Python's names",
    "PR07": "every parameter is described",
    "PR08": "a description is a sentence",
    "PR09": "a description is a sentence",
    "PR10": "without the space numpydoc and Sphinx read the type as part of the name",
    "RT01": "what a function returns is described",
    "RT02": "a single result has a type and no name",
    "RT03": "what a function returns is described",
    "RT04": "a description is a sentence",
    "RT05": "a description is a sentence",
    "YD01": "what a generator yields is described",
}

#: Classes that users get from skinpy and never make by their names. Their docstrings have Attributes and
#: no Parameters, and the site shows them without the arguments of the constructor.
MADE_BY_SKINPY = {
    # models
    "Model",
    "Skeleton",
    "Mesh",
    "Submesh",
    "Skin",
    "Target",
    "Material",
    "Texture",
    "SceneCamera",
    "SceneLight",
    "Report",
    "ReportEntry",
    # clips and poses
    "Clip",
    "Clips",
    "Channel",
    "Event",
    "Pose",
    "Mask",
    # checking and explaining
    "Finding",
    "Findings",
    "explaining.Explanation",
    "explaining.Influence",
    "explaining.JointStep",
    "explaining.MorphStep",
    "explaining.Outcome",
    "explaining.Sampled",
    # kinds, storage and retargeting
    "Animation",
    "VertexAnimation",
    "BakedTexture",
    "BakedClip",
    "JointMatch",
    "PoseMatch",
    "kinds.KeyReport",
    "storage.Comparison",
    "storage.Quantized",
    "storage.Row",
    # playing
    "Track",
    "PassedEvent",
    "controller.Recording",
    "state_machine.Condition",
    "state_machine.State",
    "state_machine.StatePlayer",
    "state_machine.Switch",
    "state_machine.Transition",
    # drawing
    "render.GroundTruth",
    "view.CameraRig",
    "view.Page",
    "view.Player",
}


def documented() -> dict[str, Any]:
    """The objects with docstrings by their public names, which have no "skinpy." in front."""
    modules = (*public_functions.MODULES, *FURTHER_MODULES)
    things = public_functions.public_things(modules)
    found: dict[str, Any] = {}
    for full, thing in things.items():
        found[full] = thing
        if inspect.isclass(thing):
            for name in public_functions.members(thing):
                found[f"{full}.{name}"] = inspect.getattr_static(thing, name)
    return found


def faults(name: str, thing: Any) -> list[str]:
    """Violations of the enforced rules by a docstring, and of rules for fields and for methods of C."""
    validator = validation.Validator(
        validation.get_doc_object(validation.Validator._load_obj(f"skinpy.{name}"))
    )
    found = validation.validate(f"skinpy.{name}")["errors"]
    held = [f"{code} {words}" for code, words in found if code in ENFORCED]
    if inspect.isclass(thing) and (issubclass(thing, BaseException) or name in MADE_BY_SKINPY):
        held = [fault for fault in held if not fault.startswith("PR01")]
        undescribed = set(fields(thing)) - {attribute for attribute, _, _ in validator.doc["Attributes"]}
        held += [f"the field {field!r} is not in Attributes" for field in sorted(undescribed)]
    if inspect.ismethoddescriptor(thing) and hasattr(thing, "__objclass__") and not validator.returns:
        held.append("no Returns section found, and methods of C return something")
    return held


def fields(record: type) -> list[str]:
    """The fields of a dataclass or a named tuple; none for other classes."""
    names = list(getattr(record, "__dataclass_fields__", ())) or list(getattr(record, "_fields", ()))
    return [name for name in names if not name.startswith("_")]


NAMES = documented()


def test_public_names_are_found() -> None:
    assert len(NAMES) > 350
    assert {"load", "Model.palette", "render.Camera", "Track", "LoadError"} <= set(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_docstring_has_the_sections_of_numpy(name: str) -> None:
    assert faults(name, NAMES[name]) == []


@pytest.mark.parametrize("name", sorted(name for name, thing in NAMES.items() if ">>>" in str(thing.__doc__)))
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples assume that `skinpy` and `np` are imported."""
    if name.startswith(("render", "view", "output")):
        pytest.importorskip("moderngl", reason="the examples draw: install the extra 'view'")
    monkeypatch.chdir(tmp_path)
    words = inspect.getdoc(NAMES[name]) or ""
    examples = doctest.DocTestParser().get_doctest(words, {"skinpy": skinpy, "np": np}, name, None, 0)
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples)
    assert (outcome.failed, outcome.attempted) == (0, len(examples.examples))


def test_classes_that_users_never_make_say_so() -> None:
    classes = {name for name, thing in NAMES.items() if inspect.isclass(thing)}
    assert MADE_BY_SKINPY - classes == set()
    assert [name for name in sorted(MADE_BY_SKINPY) if "\nParameters\n" in inspect.getdoc(NAMES[name])] == []
