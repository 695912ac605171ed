#!/usr/bin/env bash
# Run commands at the same time: while one waits, another computes. What the first prints is shown
# at once, what the others print when all have ended. Ctrl-C is for all of them.
set -um  # m: each has a process group, to which signals are sent
logs=$(mktemp -d) beside=()
for number in $(seq 2 $#); do
    bash -c "${!number}" >"$logs/$number" 2>&1 &
    beside+=($!)
done
interrupt() { for group in "${beside[@]}"; do kill -INT -- "-$group" 2>/dev/null; done; }
trap interrupt INT TERM
bash -c "$1"
status=$?
# what pytest returns after Ctrl-C, and where nothing can be tested
[ $status != 2 ] && [ $status != 4 ] || interrupt
for process in "${beside[@]}"; do
    wait "$process" || status=1
done
cat "$logs"/*
rm -r "$logs"
exit $status
