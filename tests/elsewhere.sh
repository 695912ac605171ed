#!/usr/bin/env bash
# Run all tests under other conditions: each row in a clone of this repository, with the uncommitted
# changes of its files and a virtual environment of its own, in a folder that only its owner may
# enter. With names of rows, only those: tests/elsewhere.sh busy. With `tonight`, one of them, each
# day another.
set -u
cd "$(dirname "$0")/.."
only=("$@") failed=()
python=${PYTHON:-python3}

busy() { for _ in $(seq "$1"); do nice bash -c 'while :; do :; done' & done; }

# name, Python, umask, user (for root: another than `me`), busy processes for each core
row() {
    [ ${#only[@]} = 0 ] || [[ " ${only[*]} " == *" $1 "* ]] || return 0
    echo "== $1: $2, umask $3, user $4, $5 busy processes for each core"
    local folder as=()
    folder=$(mktemp -d)
    git diff --binary HEAD >"$folder/changes"
    (umask "$3" && git clone -q . "$folder/clone" && cd "$folder/clone" &&
        git apply --allow-empty "$folder/changes") || failed+=("$1 (clone)")
    if [ "$4" != me ]; then
        chown -R "$4:" "$folder"
        as=(runuser -u "$4" -- env "HOME=$folder")
    fi
    (
        busy $(($5 * $(getconf _NPROCESSORS_ONLN)))
        trap 'kill $(jobs -p) 2>/dev/null' EXIT
        umask "$3"
        # what `make nightly` sets is not for these
        unset NIGHTLY FUZZ VENV ARGS MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL
        "${as[@]}" make -C "$folder/clone" test PYTHON="$2" </dev/null
    ) || failed+=("$1")
    rm -rf "$folder"
}

named() { names+=("$1"); }

can_make_environments() { "$1" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'; }

# call a command with each row
each() {
    "$1" closed "$python" 077 me 0
    "$1" busy "$python" 022 me 3
    for version in 3.11 3.12 3.13 3.14; do # each with the build of torch that pip picks
        can_make_environments "python$version" 2>/dev/null &&
            "$1" "$version" "python$version" 022 me 0
    done
    if [ "$(id -u)" = 0 ] && can_make_environments /usr/bin/python3 2>/dev/null; then
        "$1" user /usr/bin/python3 022 nobody 0
    fi
}

if [ "${only[*]}" = tonight ]; then
    names=()
    each named
    only=("${names[$(date +%s) / 86400 % ${#names[@]}]}")
fi
each row

[ ${#failed[@]} = 0 ] || echo "failed: ${failed[*]}"
[ ${#failed[@]} = 0 ]
