"""The worker that waits for the next grading, and a sandbox that is stopped during one."""

import pytest

from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.waiting import SpareWorker

from asking import ask, program_with


@pytest.mark.usefixtures("workers_are_started")
def test_without_fork_the_next_worker_is_already_waiting() -> None:
    spare = SpareWorker(1)
    try:
        for _ in range(2):
            waiting = spare.worker
            with ProcessSandbox(program_with(), start=spare.take) as sandbox:
                (reply,) = sandbox.run([ask("double")])
                used = sandbox.worker
            spare.prepare()
            assert reply.status == "ok"
            assert used is not None
            assert used.handle is waiting
    finally:
        last = spare.worker
        spare.close()

    assert last is not None
    assert last.process.returncode is not None


@pytest.mark.usefixtures("workers_are_started")
def test_a_stopped_sandbox_starts_no_further_worker() -> None:
    with ProcessSandbox(program_with()) as sandbox:
        list(sandbox.run([ask("double")]))
        sandbox.stop()
        sandbox.drop()
        with pytest.raises(Exception, match="closed"):
            list(sandbox.run([ask("double")]))

    assert sandbox.worker is None
