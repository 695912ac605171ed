#!/bin/sh
# Run a command as another user, from root, with a home of its own: as_user.sh USER_ID COMMAND...
set -eu
user=$1
shift
home=$(mktemp -d)
chown "$user:$user" "$home" && chmod 711 "$home"  # a grader that is root has children of other users
HOME=$home TMPDIR=$home setpriv --reuid "$user" --regid "$user" --clear-groups -- "$@" && status=0 || status=$?
rm -rf "$home"
exit $status
