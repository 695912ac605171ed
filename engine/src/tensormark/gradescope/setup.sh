#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
why="its folder cannot be found"  # is what it will have been, if this ends now
trap '[ $? = 0 ] || echo "setup.sh: the autograder is not built, and would grade nothing: $why" >&2' EXIT
source=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$source")
venv=$root/venv

usable() { "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
    local name
    for name in python3 python3.11 python3.12 python3.13; do
        # one in root's home cannot be read by the user that submissions run as
        case $(command -v "$name" || true) in "" | "$HOME"/*) continue ;; esac
        if usable "$name"; then command -v "$name" && return; fi
    done
    return 1
}
install() { apt-get install -y --no-install-recommends "$@"; }
autograder() { "$venv/bin/python" -P -m tensormark autograder "$@"; }

why="this is not the folder of autograder.zip as it was packed; upload it again"
cd "$source/assignment"
export DEBIAN_FRONTEND=noninteractive
command -v bwrap >/dev/null || { apt-get update && install bubblewrap libseccomp2; } ||
    echo "setup.sh: bubblewrap cannot be installed; the last line says what there is without it" >&2
if autograder --packages 2>/dev/null; then
    echo "the packages are there already"
else
    # Ubuntu 22.04 has Python 3.10; its 3.11 is among the packages
    why="there is no Python 3.11 or newer, and none could be installed; choose Ubuntu 22.04 or newer"
    python=$(find_python) || { apt-get update && install python3.11 python3.11-venv; python=$(find_python); }
    why="torch and the other packages cannot be installed; try again, the network may have failed"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-cache-dir \
        --extra-index-url https://download.pytorch.org/whl/cpu \
        -r requirements.txt -c constraints.txt "$source"/engine/*.whl
    autograder --packages
fi
why="what was packed does not start"
mkdir -p "$root/results"
autograder --tiers
