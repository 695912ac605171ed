"""A class of odd names, as in the bulk downloads of Canvas, Moodle and Gradescope.

What the platforms do to a name is reimplemented here from their sources: Canvas's
content_zipper.rb and gradebook_exporter.rb, Moodle's mod/assign/classes/downloader.php and its
grading worksheet, and from an export of Gradescope's.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SIZE = 142
ODD = [
    *("Lovelace, Ada", "Ada Lovelace", "ada lovelace", "ADA LOVELACE", "Lovelace Ada", "Ada"),
    *("Zhang, Wei", "Zhang, Wei", "Zhang, Wei", "张伟", "張偉", "山田 太郎", "김민준"),
    *("Nguyễn, Văn Ánh",),
    *("O'Neil-Smith, Ana Maria", 'Bobby "); DROP TABLE', "Tables, Bobby;--", "a, b, c, d", "''"),
    *("=1+1", "+49 171", "-Bob", "@SUM(A1)", '=HYPERLINK("x","y")', "x;=1+1", "y\t=1+1", "|calc"),
    *("שלום, משה", "محمد علي", "\u202eevil", "a\u200bb", "e\u0301cole", "école"),
    *("\uff21\uff24\uff21", "ﬁ"),
    *("😀", "😀😀", "👩‍💻 Dev", "Ω", "ß", "İstanbul", "ǅ"),
    *("\uff41\uff11\uff12\uff13", "१२३", "\uff11\uff12\uff13", "²"),
    *("_", "__", "a_b", "_a_", "1", "12", "10001", "10002", "s10003", "a10004", "a 10005 6 b"),
    *("LATE", "x_LATE_", "_LATE_ x", "late late", "Smith LATE", "LATE 10006"),
    *("anon", "anon abc12", "anon_abc12", "Participant", "Participant 20001", "Participant_20002"),
    *("Default group", "Team One", "team-one", "roster", "Points Possible", "Student, Test"),
    *("test student", "..", ".", ".hidden", "~", "-rf", "CON", "nul", "a/b", "a\\b", "../../etc"),
    *("x_assignsubmission_file_", "Ada_20003_assignsubmission_file_", "bert.py", "submission_1"),
    *("P_ada_attempt_2026-11-19-10-00-00_bert", "s10007@x.example", "null", "~"),
    *("true", "[]", "{}"),
    *("a_10004_b", "# x", "- x", ": x", "x: y", ":sid: '10008'"),
    *("x\n  :sid: '10008'", "'", '"', "\\", "%", "&a"),
    *("x" * 255, "é" * 127, "😀" * 60, "字" * 80, "a " * 100 + ":sid: '10009' b" + " c" * 90),
]
# in Canvas's file names, these put somebody else's id before the student's own
SMUGGLED = ["Smith, Mallory __10010___6__x", "Lovelace, Ada __10011___7__", "__10012___8__"]
SMUGGLED += ["a_10004", "LATE_10006"]


@dataclass(frozen=True)
class Member:
    number: int
    name: str
    team: str = ""

    @property
    def canvas(self) -> str:
        return str(10_000 + self.number)

    @property
    def moodle(self) -> str:
        return str(20_000 + self.number)

    @property
    def participant(self) -> str:
        return f"Participant {self.moodle}"

    @property
    def sid(self) -> str:
        return f"s{self.number:05}"

    @property
    def email(self) -> str:
        return f"p{self.number}@x.example"

    @property
    def absent(self) -> bool:
        return self.number % 23 == 5


def members() -> list[Member]:
    names = [*ODD, *SMUGGLED]
    names += [f"Plain, Student {number}" for number in range(SIZE - len(names))]
    assert len(names) == SIZE
    return [Member(number, name) for number, name in enumerate(names, start=1)]


def cut(name: str, ending: str) -> str:
    """Return a name with its ending, cut to the bytes that a file name may have."""
    return name.encode()[: 255 - len(ending.encode())].decode(errors="ignore") + ending


def in_canvas(name: str) -> str:
    name = re.sub(r"_([0-9]+)_", r"\1", name).lower()
    return "".join(c for c in name if c.isalnum() or c == "_" or unicodedata.category(c)[0] == "M")


def in_moodle(name: str) -> str:
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]', "", name.replace("_", " ")).strip() or "x"


def table(path: Path, rows: Sequence[Sequence[str]], delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_bytes(text.getvalue().encode())
    return path


def work(member: Member, team: str = "") -> str:
    return f"# the work of {team or member.number}\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def canvas(folder: Path, people: Sequence[Member]) -> Path:
    """Write Canvas's download, once per group; late files are marked, and some are resubmitted."""
    written = set()
    for member in people:
        if member.absent or (member.team and member.team in written):
            continue
        written.add(member.team)
        late = "_LATE" if member.number % 5 == 0 else ""
        again = "-2" if member.number % 7 == 0 else ""
        ending = f"{late}_{member.canvas}_{90_000 + member.number}_bert{again}.py"
        name = in_canvas(member.team or member.name)
        write(folder / cut(name, ending), work(member, member.team))
    return folder


def export(path: Path, people: Sequence[Member], delimiter: str = ",") -> Path:
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "minBERT (8)"]
    rows = [[member.name, member.canvas, member.sid, member.email, "A", ""] for member in people]
    return table(path, [head, ["    Points Possible", "", "", "", "", "100"], *rows], delimiter)


def groups(path: Path, people: Sequence[Member]) -> Path:
    head = ["name", "canvas_user_id", "user_id", "login_id", "sections", "group_name"]
    rows = [
        [member.name, member.canvas, member.sid, member.email, "A", member.team]
        for member in people
    ]
    return table(path, [head, *rows])


def moodle(folder: Path, people: Sequence[Member], flat: bool, blind: bool = False) -> Path:
    """Write Moodle's download, with or without a folder for each hand-in."""
    teams = sorted({member.team for member in people})
    for member in people:
        if not member.absent:
            name = in_moodle("Participant" if blind else member.team or member.name)
            number = 500 + teams.index(member.team) if member.team else member.moodle
            ending = f"_{number}_assignsubmission_file_"
            for file in ("bert.py", "optimizer.py") if flat else ("bert.py",):
                whole = cut(name, ending + file) if flat else f"{cut(name, ending)}/{file}"
                write(folder / whole, work(member, member.team))
    return folder


def worksheet(path: Path, people: Sequence[Member], blind: bool = False) -> Path:
    names = [] if blind else ["Full name", "Email address"]
    head = ["Identifier", *names, "Status", "Group", "Grade", "Maximum Grade"]
    head += ["Grade can be changed", "Last modified (submission)", "Last modified (grade)"]
    rows = [
        [
            member.participant,
            *([] if blind else [member.name, member.email]),
            *("Submitted for grading", member.team, "", "200.00"),
            *("Yes", "Friday, 20 November 2026, 10:00 PM", "-"),
        ]
        for member in people
    ]
    return table(path, [head, *rows])


def gradescope(folder: Path, people: Sequence[Member]) -> Path:
    """Write Gradescope's export; a team's submission has several submitters."""
    teams: dict[str, list[Member]] = {}
    for member in people:
        if not member.absent:
            teams.setdefault(member.team or member.sid, []).append(member)
    lines = ["---"]
    for number, team in enumerate(teams.values()):
        write(folder / f"submission_{number}/bert.py", work(team[0], team[0].team))
        lines += [f"submission_{number}:", "  :submitters:"]
        for member in team:
            lines += [f"  - :name: {json.dumps(member.name)}", f"    :sid: {member.sid}"]
            lines += [f"    :email: {member.email}"]
        lines += ["  :created_at: 2026-11-20 22:00:00.000000000 Z"]
    write(folder / "submission_metadata.yml", "\n".join(lines) + "\n")
    return folder


def roster(path: Path, people: Sequence[Member]) -> Path:
    rows = [[member.sid, member.email, member.name, member.team] for member in people]
    return table(path, [["id", "email", "name", "team"], *rows])
