"""A task is measured over seeds, and against each known mistake."""

from testkit.graded import edit
from testkit.resident import called

SEEDS = ("--seeds", "2")


def measured(folder):
    """Return what a table says of each variant: how many seeds pass, and what they reach."""
    table = called(folder, "threshold", "detection", *SEEDS).stdout.splitlines()
    return {row[2:42].rstrip(): (row[43:56], row[59:]) for row in table}


def test_a_mistake_that_passes_the_threshold_is_seen(folder):
    table = measured(folder)

    assert list(table) == [
        "solution",
        "honest one_window_at_a_time",
        "mistake last_window_missing",
        "mistake patterns_reversed",
        "mistake bias_forgotten",
        "mistake mean_over_windows",
    ]
    assert {count for count, _ in table.values()} == {"passes 2 of 2"}
    assert all(" to 1.000" in reached for _, reached in table.values())


def test_seeds_differ_and_right_code_that_fails_is_marked(copy):
    edit(copy / "grader/task.py", "threshold = 0.9", "threshold = 1.1")

    table = called(copy, "threshold", "detection", *SEEDS)

    first, *_ = table.stdout.splitlines()
    assert table.returncode == 1
    assert first.startswith("! solution ")
    assert "passes 0 of 2   0.9" in first


def test_only_a_task_can_be_measured(folder):
    assert called(folder, "threshold", "conv").stderr == "threshold: conv: there is no such task\n"
