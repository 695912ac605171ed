#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
why="its folder cannot be found"  # the reason if the script ends before the next `why`
trap '[ $? = 0 ] || echo "setup.sh: the autograder is not built, and would grade nothing: $why" >&2' EXIT
source=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$source")
venv=$root/venv

usable() { "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
    local path
    # all on the PATH, as pyenv's come first: submissions' user cannot read one in root's home
    for path in $(type -aP python3 python3.11 python3.12 python3.13); do
        case $path in "$HOME"/*) continue ;; esac
        if usable "$path"; then echo "$path" && return; fi
    done
    return 1
}
install() { apt-get install -y --no-install-recommends "$@"; }
# whether the packages are installed: nothing is looked for in an index
installed() { "$venv/bin/python" -m pip install -q --dry-run --no-index -r requirements.txt; }

why="this is not the complete folder from autograder.zip; upload it again"
cd "$source/assignment"
export DEBIAN_FRONTEND=noninteractive
command -v bwrap >/dev/null || { apt-get update && install bubblewrap libseccomp2; } ||
    echo "setup.sh: bubblewrap cannot be installed; the last line says which tier runs without it" >&2
if installed 2>/dev/null; then
    echo "the packages are already installed"
else
    # Ubuntu 22.04 comes with Python 3.10, but packages 3.11
    why="there is no Python 3.11 or newer, and none could be installed; choose Ubuntu 22.04 or newer"
    python=$(find_python) || { apt-get update && install python3.11 python3.11-venv; python=$(find_python); }
    why="torch and the other packages cannot be installed; try again, the network may have failed"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-cache-dir \
        --extra-index-url https://download.pytorch.org/whl/cpu \
        -r requirements.txt -c constraints.txt "$source"/engine/*.whl
    installed
fi
why="the grader in autograder.zip does not start"
mkdir -p "$root/results"
"$venv/bin/python" -P -m tensormark autograder --tiers
