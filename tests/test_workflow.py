"""The check on GitHub: what a student's repository runs."""

from tests.helpers import ROOT


def test_the_workflow_on_github_ends_with_a_check_of_the_result() -> None:
    path = ROOT / "instructor/students/.github/workflows/grade.yml"

    *_, last = path.read_text(encoding="utf-8").split("      - ")

    assert "tensormark convert check " in last
    assert "if:" not in last
