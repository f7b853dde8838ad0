"""skinpy check: looks for faults of an animated file."""

import warnings
from argparse import Namespace

from .. import _core
from ..checking import check
from ..errors import SkinpyWarning
from . import values
from .loading import load_model
from .options import Commands, add_command
from .output import show, show_json


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "check", run, "find faults in an animated file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--joints",
        type=values.count,
        metavar="N",
        help="report an error if more than N joints move vertices (default: no limit)",
    )


def run(options: Namespace) -> int:
    """Run the command; the exit status is 1 if there are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkinpyWarning)  # the findings report the same losses
        # With all influences that a vertex may have, so that the error of fewer can be measured.
        model = load_model(options, max_influences=_core.MAX_INFLUENCES)
    findings = check(model, joints=options.joints)
    if options.json:
        show_json({"file": options.file} | findings.to_dict())
    else:
        show(findings)
    return int(bool(findings.errors))
