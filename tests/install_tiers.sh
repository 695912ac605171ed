#!/bin/sh
# Install what the isolating tiers and a few tests need, where that may be done: as root, on Debian and its kin.
# Elsewhere, and where it fails, pytest says which tiers are not tested.
set -eu
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v dpkg-query >/dev/null || exit 0
missing=
for package in bubblewrap jq libseccomp2 unzip util-linux; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
    *" installed") ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0
echo "installing for the tests, with apt-get:$missing" >&2
log=$(mktemp)
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086  # a list of names
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1
then
    echo "that failed: $(tail -n 1 "$log")" >&2
fi
rm -f "$log"
