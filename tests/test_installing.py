"""The page docs/installing.md, the Dockerfile and the conda recipe say what the code and the scripts say.

No test here installs anything: tests/test_packaging.py does. The tests marked `extras` run the linter of
Dockerfiles, and render the conda recipe for both processors.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROJECT, ROOT, needs_checkout

needs_checkout()

PAGE = (ROOT / "docs/installing.md").read_text(encoding="utf-8")
DOCKERFILE = ROOT / "examples/docker/Dockerfile"
RECIPE = ROOT / ".ci/conda/recipe.yaml"
OPENGL = ["libegl1", "libgl1", "libgl1-mesa-dri"]


def apt_packages(text: str) -> list[set[str]]:
    """The packages of each `apt-get install` in a text."""
    commands = re.findall(r"apt-get install((?: +-*[\w.+-]+)+)", text)
    return [{name for name in command.split() if not name.startswith("-")} for command in commands]


def sources() -> str:
    folders = [ROOT / name for name in ("skinpy", "csrc")]
    paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".c", ".h")]
    return "\n".join(path.read_text(encoding="utf-8") for path in [*paths, ROOT / "setup.py"])


# ---- packages of Debian ------------------------------------------------------------------------------


def test_opengl_has_the_same_packages_everywhere() -> None:
    command = f"apt-get install {' '.join(OPENGL)}"
    assert f"sudo {command} " in PAGE and f"sudo {command}\n" in PAGE
    assert " ".join(OPENGL) in DOCKERFILE.read_text(encoding="utf-8")
    assert " ".join(OPENGL) in (ROOT / "quickstart.sh").read_text(encoding="utf-8")
    assert "libegl1, libgl1 and libgl1-mesa-dri" in sources()


def test_a_build_needs_what_quickstart_installs() -> None:
    script = ROOT / "quickstart.sh"
    wanted = script.read_text(encoding="utf-8").split("wanted_packages() {")[1].split("\n}")[0]
    # What the tests and other Pythons need stands behind conditions on several lines.
    names = set(re.findall(r"\b(?:lib[\w-]+-dev|gcc|g\+\+|zlib1g-dev)", wanted)) - {"libclang-rt-dev"}
    named = set().union(*apt_packages(PAGE))
    assert len(names) > 7
    assert not names - named
    assert not named - names - {"python3-venv", "python3-dev", *OPENGL}


# ---- the page ----------------------------------------------------------------------------------------


def test_every_extra_is_explained() -> None:
    table = PAGE.split("| extra | what it adds |\n")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(PROJECT["optional-dependencies"])


def test_every_variable_of_a_folder_is_explained() -> None:
    text = sources()
    named = set(re.findall(r"SKINPY_([A-Z]+)_DIR", text)) - {"NAME"}
    searched = re.findall(r'find_(?:headers|library|optional)\((?:needs, )?"(\w+)"', text)
    assert set(re.findall(r"SKINPY_([A-Z]+)_DIR", PAGE)) == named.union(name.upper() for name in searched)


@pytest.mark.parametrize(
    "words",
    [
        "no OpenGL 3.3 context",
        "drawing needs moderngl",
        "there is no display to open a window on",
        "GLCONTEXT_DEVICE_INDEX",
        "is not built for this Python",
        "another package called skinpy was installed over skinpy-anim",
        "which this build of skinpy cannot read",
        "skinpy cannot be built: ",
    ],
)
def test_quoted_words_are_those_of_the_code(words: str) -> None:
    assert words in PAGE
    assert words in re.sub(r'"\n\s*f?"', "", sources())  # a string may be written on several lines


# ---- Docker ------------------------------------------------------------------------------------------


def test_the_dockerfile_is_built_as_the_page_says() -> None:
    text = DOCKERFILE.read_text(encoding="utf-8")
    (command,) = re.findall(r"docker build .*", text)
    assert command in PAGE
    assert str(DOCKERFILE.relative_to(ROOT)) in command
    context = command.split()[-1]
    assert f"sh quickstart.sh wheel {context}\n" in PAGE and f"`sh quickstart.sh wheel {context}`" in text


def test_the_container_does_not_run_as_root() -> None:
    lines = re.sub(r"^#.*\n", "", DOCKERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    instructions = re.findall(r"^([A-Z]+) (.*)", lines.replace("\\\n", " "), re.MULTILINE)
    names = [name for name, _ in instructions]
    assert names[0] == "FROM" and names[-2:] == ["ENTRYPOINT", "CMD"]
    (user,) = [value for name, value in instructions if name == "USER"]
    assert int(user) > 0  # a number: then a cluster can see that it is not root
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")


@pytest.mark.extras
def test_the_linter_finds_nothing_in_the_dockerfile() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.exists():
        pytest.skip("hadolint is missing: tests/extras/requirements.txt")
    done = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- conda -------------------------------------------------------------------------------------------


def test_the_recipe_needs_what_the_package_needs() -> None:
    recipe = RECIPE.read_text(encoding="utf-8")
    names = {"cmeel-assimp": "assimp", "glfw": "pyglfw"}  # as conda-forge calls them
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["view"]]
    for requirement in needed:
        name, limits = re.match(r"([\w-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        assert f"    - {names.get(name, name).lower()} {limits}\n" in recipe
    assert f"    - python {PROJECT['requires-python']}\n" in recipe


@pytest.mark.extras
@pytest.mark.parametrize("platform", ["linux-64", "linux-aarch64"])
def test_the_recipe_renders(platform: str) -> None:
    rattler = pytest.importorskip("rattler_build", reason="py-rattler-build is missing")
    known = {
        "python": ["3.11.* *_cpython", "3.14.* *_cp314"],
        "c_compiler": ["gcc"],
        "cxx_compiler": ["gxx"],
        "c_stdlib": ["sysroot"],
        "c_stdlib_version": ["2.28"],
    }
    # It reads the version from pyproject.toml, which is an experimental function.
    config = rattler.PlatformConfig(target_platform=platform, experimental=True)
    rendered = rattler.Stage0Recipe.from_file(RECIPE).render(
        rattler.VariantConfig(known), rattler.RenderConfig(platform=config)
    )
    assert len(rendered) == len(known["python"])
    for variant in rendered:
        facts = variant.recipe.to_dict()
        assert facts["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
        assert f"gcc_{platform}" in facts["requirements"]["build"]
