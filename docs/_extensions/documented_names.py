"""Links code in backticks, on pages and in docstrings, to the public name that it stands for.

For instance `model.palette()` stands for `skinpy.Model.palette`.
"""

import re
from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

import skinpy

#: Names of variables in examples, and their classes.
VARIABLES = {
    "model": "Model",
    "clip": "Clip",
    "pose": "Pose",
    "mesh": "Mesh",
    "skin": "Skin",
    "skeleton": "Skeleton",
    "controller": "AnimationController",
    "renderer": "render.Renderer",
    "crowd": "render.Crowd",
    "baked": "BakedTexture",
    "findings": "Findings",
}
NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.DOTALL)


def candidates(words: str) -> list[str]:
    """Full names that a code span may stand for, the most likely first; none if it is not a name."""
    found = NAME.fullmatch(words.strip())
    if not found:
        return []
    name = found[1]
    if "." not in name and not found[2] and name.islower():
        return []  # an argument, or a word in a list
    first, _, rest = name.partition(".")
    names = [name, f"skinpy.{name}"]
    if rest and first in VARIABLES:
        names.insert(0, f"skinpy.{VARIABLES[first]}.{rest}")
    parts = name.split(".")
    if parts[0] == "skinpy" and len(parts) > 2 and parts[2] in skinpy.__all__:
        names.append(".".join(["skinpy", *parts[2:]]))  # skinpy.kinds.UVAnimation is skinpy.UVAnimation
    return [one for one in names if "." in one]


def documented(objects: Mapping[str, Any], words: str) -> str | None:
    """The full name in the reference that a code span stands for, or None."""
    return next((name for name in candidates(words) if name in objects), None)


class LinkNames(SphinxPostTransform):
    """Turns code spans into links to the reference."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        domain = self.env.domains["py"]
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, nodes.reference | nodes.title) or "xref" in literal["classes"]:
                continue
            name = documented(domain.objects, literal.astext())
            if name is None:
                continue
            page, anchor = domain.objects[name].docname, domain.objects[name].node_id
            link = make_refnode(self.app.builder, self.env.docname, page, anchor, literal.deepcopy(), name)
            literal.replace_self(link)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(LinkNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
