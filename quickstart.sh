#!/bin/sh
# From a bare Debian 12 to a picture, or to a test run:
#
#   sh quickstart.sh                    renders the bundled character and says where the picture is
#   sh quickstart.sh test [ARGUMENTS]   runs the tests (SKINPY_CI=1: all of them)
#   sh quickstart.sh test-extras [ARGUMENTS]
#                                       runs the tests that need large packages of others, such as JupyterLab
#   sh quickstart.sh wheel [FOLDER] [OPTIONS]
#                                       builds the wheels for x86-64 and ARM into FOLDER (dist, if not given);
#                                       --processor x86_64 (or aarch64) builds for one only, --help lists the options
#   sh quickstart.sh test-wheel [WHEEL] [ARGUMENTS]
#                                       runs the quick tests against the wheel in a fresh Debian without a compiler
#   sh quickstart.sh test-arm [WHEEL] [ARGUMENTS]
#                                       runs the numerical tests in a fresh Debian for arm64, under qemu
#   sh quickstart.sh release VERSION [--dry-run]
#                                       commits, tags and builds a release, without uploading it: docs/releasing.md
#
# ARGUMENTS are pytest's. Tests run in one process more than there are processors, at most four; add -n 0 for
# one process, as a debugger (--pdb) needs it. WHEEL is a file; if it is not given, the wheel is built first. Both
# commands that test wheels are for root; .ci/roots.py says what they do and which variables they read.
#
# Each command installs the Debian packages that are missing (as root or by sudo) and makes .venv beside this file
# (test-extras: .venv-extras) if it is not there. All but wheel and release install skinpy into it. You can repeat
# each safely.
set -eu
cd "$(dirname "$0")"

OLDEST_PYTHON="3, 11"
VENV=.venv
ONLY_WHEELS=
ROOT_FOR=
# Some tests wait, for a signal or a time limit: one process more than processors has work then.
PARALLEL="--numprocesses=$(($(nproc) + 1)) --maxprocesses=4 --dist=loadfile --no-loadscope-reorder"

say() { printf 'quickstart: %s\n' "$*"; }

fail() {
    printf 'quickstart: %s\n' "$*" >&2
    exit 1
}

# Runs a command and shows what it wrote only when it fails.
quietly() {
    log=$(mktemp)
    status=0
    "$@" >"$log" 2>&1 || status=$?
    [ "$status" = 0 ] || cat "$log" >&2
    rm -f "$log"
    return "$status"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Whether a Python is new enough, can make virtual environments and can build extensions.
good_python() {
    "$1" -c "
import ensurepip, os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_path('include'), 'Python.h')
sys.exit(sys.version_info < ($OLDEST_PYTHON) or not os.path.isfile(header))" 2>/dev/null
}

# Prints the Python to use. Nothing where none is good: then Debian's own gets installed.
find_python() {
    for candidate in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
        if good_python "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
}

# The Debian packages that skinpy wants on this machine, one a line.
wanted_packages() {
    [ -n "$(find_python)" ] || printf '%s\n' python3 python3-venv python3-dev
    # Wheels bring their compiler, and get their libraries from Debian's source packages.
    if [ -n "$ONLY_WHEELS" ]; then
        printf '%s\n' dpkg-dev libcglm-dev libjsmn-dev
        return
    fi
    # A C compiler, two libraries of headers alone, which are needed to build only, zlib and Expat. Two libraries that
    # decompress glTF, one of which needs a C++ compiler: skinpy can be built without them.
    printf '%s\n' gcc libc6-dev
    [ -n "${SKINPY_CGLM_DIR:-}" ] || echo libcglm-dev
    [ -n "${SKINPY_JSMN_DIR:-}" ] || echo libjsmn-dev
    [ -n "${SKINPY_ZLIB_DIR:-}" ] || echo zlib1g-dev
    [ -n "${SKINPY_EXPAT_DIR:-}" ] || echo libexpat1-dev
    [ -n "${SKINPY_MESHOPTIMIZER_DIR:-}" ] || echo libmeshoptimizer-dev
    [ -n "${SKINPY_DRACO_DIR:-}" ] || printf '%s\n' g++ libdraco-dev
    # OpenGL without a display: EGL, and Mesa's drivers, which draw in software where there is no GPU.
    printf '%s\n' libegl1 libgl1 libgl1-mesa-dri
    # The full run counts instructions, opens windows on a virtual screen and pages in a browser, watches
    # what the importer opens, and fuzzes. It makes releases of small
    # repositories, and runs the core on an emulated ARM processor.
    [ "${SKINPY_CI:-}" != 1 ] ||
        printf '%s\n' git valgrind xvfb xdotool chromium strace clang libclang-rt-dev \
            gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
    # The tests with JupyterLab and with three.js. Node may come from elsewhere, with an npm of its own.
    [ "${SKINPY_EXTRAS:-}" != 1 ] || echo chromium
    [ "${SKINPY_EXTRAS:-}" != 1 ] || command -v npm >/dev/null || printf '%s\n' nodejs npm
    # What makes a root, and what runs the programs of another processor in it.
    [ -z "$ROOT_FOR" ] || echo debootstrap
    [ "$ROOT_FOR" != arm ] || echo qemu-user-static
}

is_installed() {
    dpkg-query --show --showformat '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

install_packages() {
    if ! command -v apt-get >/dev/null; then
        say "this is not Debian, so install these packages, or their counterparts here, if they are missing:"
        say "$(wanted_packages | tr '\n' ' ')"
        return
    fi
    missing=
    for package in $(wanted_packages); do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        fail "Debian packages are missing and neither root nor sudo is here. As root: apt-get install$missing"
    fi
    say "installing Debian packages:$missing"
    quietly as_root apt-get --quiet update || say "apt-get update failed; trying with the lists that are there"
    # shellcheck disable=SC2086  # the packages are words
    quietly as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get --quiet --yes --no-install-recommends install $missing ||
        fail "apt-get could not install$missing (its output is above). Without a network, install them first."
}

make_venv() {
    if good_python "$VENV/bin/python" && "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
        return
    fi
    python=$(find_python)
    [ -n "$python" ] || fail "no Python 3.11 or newer with its venv module and its headers is here"
    say "making $VENV with $("$python" --version) ($python)"
    quietly "$python" -m venv --clear "$VENV" || fail "$python could not make $VENV (its output is above)"
}

# Installs into $VENV. Arguments: what this is called in the error, and those of pip install.
pip_install() {
    label=$1
    shift
    quietly "$VENV/bin/python" -m pip --disable-pip-version-check install "$@" ||
        fail "pip could not install $label (its output is above). It needs a network."
}

# Editable: what is tested and shown is what stands in this folder, and the next change to a Python file
# needs no new installation. (The tests under SKINPY_CI=1 install wheels and sdists elsewhere.)
install_skinpy() {
    say "building and installing skinpy with its extras: $1"
    pip_install skinpy --editable ".[$1]"
}

show() {
    install_packages
    make_venv
    install_skinpy view
    "$VENV/bin/skinpy" demo -o character.png
    say "the bundled character is in $(pwd)/character.png"
}

run_tests() {
    install_packages
    make_venv
    # The full run builds the site too, and compiles for other systems: zig has 100 MB, which dev does not need.
    if [ "${SKINPY_CI:-}" = 1 ]; then
        install_skinpy view,dev,docs
        pip_install ziglang "ziglang>=0.17.1,<0.18"
    else
        install_skinpy view,dev
    fi
    # The tests start hundreds of interpreters, each of which would compile the modules again.
    unset PYTHONDONTWRITEBYTECODE
    # shellcheck disable=SC2086  # the options are words
    exec "$VENV/bin/pytest" $PARALLEL "$@"
}

run_extra_tests() {
    export SKINPY_EXTRAS=1
    VENV=.venv-extras
    install_packages
    make_venv
    install_skinpy view,dev,jupyter,benchmarks
    say "installing the packages that tests/extras lists"
    pip_install tests/extras/requirements.txt --requirement tests/extras/requirements.txt
    mkdir -p "$VENV/node"
    cp tests/extras/package.json "$VENV/node"
    quietly npm install --prefix "$VENV/node" --no-audit --no-fund ||
        fail "npm could not install tests/extras/package.json (its output is above). It needs a network."
    SKINPY_NODE_MODULES=$(pwd)/$VENV/node
    export SKINPY_NODE_MODULES
    exec "$VENV/bin/pytest" -m extras "$@"
}

# Builds in environments of its own, so skinpy is not installed into .venv.
make_wheels() {
    ONLY_WHEELS=1
    install_packages
    ONLY_WHEELS=
    make_venv
    pip_install "what builds wheels" "auditwheel>=6.5,<7" build wheel "ziglang>=0.17.1,<0.18"
    # With the time of the commit in place of today's, one commit always gives the same bytes.
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
    export SOURCE_DATE_EPOCH
    "$VENV/bin/python" .ci/wheel.py "$@"
}

# Tests the wheel that is named, or that of this commit, in a root. The checkout's skinpy says what is right.
test_in_root() {
    ROOT_FOR=$1
    shift
    processor=x86_64
    [ "$ROOT_FOR" != arm ] || processor=aarch64
    [ "$(id -u)" = 0 ] || fail "only root can make a root. Run the command with sudo."
    install_packages
    make_venv
    "$VENV/bin/python" -c 'import skinpy._core, PIL' 2>/dev/null || install_skinpy view
    case "${1:-}" in
    *.whl)
        wheel=$1
        shift
        ;;
    *)
        rm -rf .roots/wheels
        make_wheels .roots/wheels --processor "$processor"
        wheel=$(ls .roots/wheels/*.whl)
        ;;
    esac
    # shellcheck disable=SC2086  # the options are words
    "$VENV/bin/python" .ci/roots.py "$ROOT_FOR" "$wheel" $PARALLEL "$@"
}

make_release() {
    ONLY_WHEELS=1
    install_packages
    make_venv
    pip_install "what makes a release" build packaging "towncrier>=25.8" "twine>=6.1"
    exec "$VENV/bin/python" .ci/release.py "$@"
}

case "${1:-}" in
"")
    show
    ;;
test)
    shift
    run_tests "$@"
    ;;
test-extras)
    shift
    run_extra_tests "$@"
    ;;
wheel)
    shift
    make_wheels "$@"
    ;;
test-wheel)
    shift
    test_in_root wheel "$@"
    ;;
test-arm)
    shift
    test_in_root arm "$@"
    ;;
release)
    shift
    make_release "$@"
    ;;
*)
    printf 'usage: sh quickstart.sh [%s | %s]\n' 'test | test-extras | test-wheel | test-arm [pytest arguments]' \
        'wheel [folder] [options] | release version' >&2
    exit 2
    ;;
esac
