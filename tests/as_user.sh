#!/bin/sh
# Run a command as an ordinary user, from root: tests/as_user.sh COMMAND...
# Where Python lies in root's home, that folder is opened to the user, in a mount namespace of its own.
set -eu
if [ "${MINBERT_IN_NAMESPACE:-}" = "" ]; then
    MINBERT_IN_NAMESPACE=1 exec unshare --mount "$0" "$@"
fi
base=$(readlink -f "$(command -v "$1")" | sed -n 's#^/root/\(.*\)/bin/[^/]*$#\1#p')
if [ -n "$base" ]; then
    # only this Python: the rest of root's home is hidden by an empty folder
    hold=$(mktemp -d)
    mount --bind "/root/$base" "$hold"
    mount -t tmpfs -o mode=0755 tmpfs /root
    mkdir -p "/root/$base"
    mount --bind "$hold" "/root/$base"
    umount "$hold" && rmdir "$hold"
fi
unset MINBERT_IN_NAMESPACE
home=$(mktemp -d)
chown 54321:54321 "$home"
HOME=$home TMPDIR=$home setpriv --reuid 54321 --regid 54321 --clear-groups -- "$@" && status=0 || status=$?
rm -rf "$home"
exit $status
