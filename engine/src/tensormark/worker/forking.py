"""A process that has imported torch and forks a worker for each grading: for `watch`.

Started as a script, `python -I forking.py SOCKET`, by sandbox/waiting.py, on Linux. It never
runs a student's code. A worker that it forks serves requests as main.py does, in its own folder;
nothing that is left in its memory reaches the next one. While nobody waits, it can also load the
assignment's harness.

Covered: a worker ends on request, and when this process ends. Not covered: isolation; like main.py,
it is for people who grade their own code.
"""

import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

if __name__ == "__main__":
    # `-I` keeps the environment, the current folder and this script's folder out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tensormark.worker import lockdown, main
from tensormark.worker.zygote import check_threads, freeze, receive, send


def _be_worker(
    order: dict[str, Any], descriptors: Sequence[int], new_overlay: main.NewOverlay | None
) -> NoReturn:
    """Serve requests in the forked process, then exit."""
    try:
        lockdown.die_with_parent()
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        os.chdir(order["folder"])
        os.environ.update(order["environment"])
        main.serve(*main.take_streams(), new_overlay)
    finally:
        os._exit(0)  # skip exit handlers, do not wait for threads


def _fork(
    control: socket.socket,
    order: dict[str, Any],
    descriptors: Sequence[int],
    new_overlay: main.NewOverlay | None,
) -> int:
    """Fork a worker, in its own process group; return its process id.

    Args:
        descriptors: its stdin, stdout and stderr.
        new_overlay: see overlay_maker; None if the harness is not loaded yet.

    Raises:
        RuntimeError: there is more than one thread.
    """
    check_threads()
    child = os.fork()
    if child == 0:
        control.close()
        os.setpgid(0, 0)
        _be_worker(order, descriptors, new_overlay)
    os.setpgid(child, child)  # here too, in case it must be killed before it has done so itself
    for descriptor in descriptors:
        os.close(descriptor)
    return child


def _run() -> None:
    """Fork one worker after another until the parent is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    main.import_torch()
    main.limit_resources()
    from tensormark.worker.overlay import overlay_maker  # imports torch

    new_overlay: main.NewOverlay | None = None
    while True:
        order, descriptors = receive(control)
        if "harness" in order:
            if new_overlay is None:
                new_overlay = overlay_maker(order["harness"])
                check_threads()
                freeze()
            send(control, loaded=True)
            continue
        child = _fork(control, order, descriptors, new_overlay)
        receive(control)  # the request to end the worker; if the parent is gone, both end
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        send(control, ended=True)


if __name__ == "__main__":
    _run()
