# tries: read the solution and the grader
# loses: nothing
# control: leaks

PATHS = [
    "{ROOT}/solution",
    "{ROOT}/solution/bert.py",
    "{ROOT}/instructor",
    "{ROOT}/engine/src/tensormark/grading.py",
    "{ROOT}/engine/src/tensormark/judging/compare.py",
    "{ROOT}/grader/exercises/embed.py",
]
