"""Random listings of all platforms, in which students choose names against their neighbours."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass

from tensormark.classroom.find import find
from testkit.classes import EDITABLE, handed_in

WORDS = "ada,lovelace,file,LATE,é,anon,attempt,assignsubmission,2026 904 PM".split(",")
LINKS = "_,_,-, , - ,_1_,_attempt_2026-11-20-10-00-00_,_assignsubmission_file_".split(",")
LETTERS = "23456789abcdefghijkmnopqrstuvwxyzABCDEFGH"


@dataclass
class Student:
    """A student; only the list and the platform know the ids."""

    number: str
    login: str
    listed: bool
    chosen: str  # what the student is called
    file: str


@dataclass
class ClassListing:
    """What is in a folder, whose each file is (None if nobody may get it), and the list."""

    platform: str
    files: Mapping[str, str | None]
    people: str
    metadata: str = ""
    column: str = ""

    def found(self, folder):
        """Write it, and return who handed in what."""
        hand_ins = handed_in(folder / "in", *self.files)
        if self.metadata:
            (hand_ins / "submission_metadata.yml").write_text(self.metadata, "utf-8")
        path = folder / "list.csv"
        path.write_text(self.people, "utf-8")
        return find(hand_ins, EDITABLE, path, self.platform, column=self.column)

    def faults(self, folder):
        """Yield what went to somebody else, and what went nowhere."""
        lost = {name.strip("/") for name in self.files}
        for entry in self.found(folder).entries:
            files = [upload.path.name for upload in entry.uploads]
            whose = {self.files.get(name, self.files.get(f"{name}/")) for name in files}
            lost -= set(files)
            if entry.row is not None and whose - {entry.student.removeprefix("Participant ")}:
                yield f"{entry.student} got {files}"
            if entry.path is not None and len(whose) > 1:
                yield f"{files} are one submission"
        yield from (f"{name} is lost" for name in lost)


def _chosen(draw, students):
    parts = draw.choices([*WORDS, *students, *students], k=draw.randint(1, 4))
    return "".join(part + draw.choice(LINKS) for part in parts).strip(" -.")[:80] or "x"


def _students(draw):
    numbers = draw.sample([str(number) for number in range(1, 40)], draw.randint(2, 5))
    logins = {f"{draw.choice(['stu', 'x', 'lab-1', 'ada'])}-{number}" for number in numbers}
    logins |= set(draw.sample(["ada", "ada-l", "l", "1-ada", "ab", "x-ada"], 5))
    names = draw.sample(sorted(login.strip("-") for login in logins), len(numbers))
    return [
        Student(
            number,
            login,
            draw.random() < 0.8,
            _chosen(draw, [*numbers, *names]),
            f"{_chosen(draw, [*numbers, *names])}.py",
        )
        for number, login in zip(numbers, names, strict=True)
    ]


def _rows(titles, row, students):
    listed = [each for each in students if each.listed] or students[:1]
    return f"{titles}\n" + "".join(row.format(**vars(each)) + "\n" for each in listed)


def canvas(draw, students):
    """Return a download of Canvas; a third are anonymous."""
    anonymous = draw.random() < 0.3
    files = {}
    for place, each in enumerate(students):
        letters = (char for char in each.chosen.lower() if char.isalnum() or char == "_")
        begin = f"{''.join(letters)}_{draw.choice(['', 'LATE_'])}{each.number}"
        if anonymous:
            begin = f"anon_{draw.choice(['', 'LATE_'])}{''.join(draw.choices(LETTERS, k=5))}"
        files[f"{begin}_{10 + place}_{each.file}"] = None if anonymous else each.number
    return ClassListing(
        "canvas", files, _rows("canvas_user_id,name", "{number},N{number}x", students)
    )


def moodle(draw, students):
    """Return a download of Moodle; a half is blind."""
    blind = draw.random() < 0.5
    files = {}
    for each in students:
        name = "Participant" if blind else each.chosen.replace("_", " ")
        files[f"{name}_{each.number}_assignsubmission_file_{each.file}"] = each.number
    titles = "Identifier,Status,Grade,Maximum Grade,Last modified (grade)"
    return ClassListing("moodle", files, _rows(titles, "Participant {number},,,80,-", students))


def gradescope(draw, students):
    """Return an export of Gradescope; people type their neighbours' ids and names."""
    files = {}
    metadata = {}
    for place, each in enumerate(students):
        other = draw.choice(students)
        who = {"name": f"N{other.number}x", "sid": other.number, "email": f"{each.login}@x.example"}
        files[f"submission_{place}/"] = each.number
        metadata[f"submission_{place}"] = {"submitters": [who]}
    titles, row = draw.choice(
        [
            ("sid,name,email", "{number},N{number}x,{login}@X.example"),
            ("sid,name", "{number},N{number}x"),
        ]
    )
    return ClassListing("gradescope", files, _rows(titles, row, students), json.dumps(metadata))


def blackboard(draw, students):
    """Return a download of Blackboard, with a submission of another assignment in a half."""
    title = draw.choice(["Lab", "Lab_1", "x_ada"])
    files = {
        f"{title}_{each.login}_attempt_2026-11-20-10-00-0{place}_{each.file}": each.number
        for place, each in enumerate(students)
    }
    stray = f"Lab_2_{students[0].login}_attempt_2026-11-21-10-00-00_x.py"
    files |= draw.choice([{}, {stray: None}])
    people = _rows(f"sid,login,{title}", "{number},{login},", students)
    return ClassListing("blackboard", files, people, column=title)


def brightspace(draw, students):
    """Return a download of Brightspace, whose names are those of its list."""
    files = {}
    for each in students:
        begin = f"{draw.randint(1, 40)}-90 - {each.chosen} N{each.number}x - Oct 1, 2026 904 PM"
        ending = draw.choice(["/", f" - 1-90 - N1x - Oct 2, 2026 904 PM - {each.file}"])
        files[f"{begin}{ending}"] = each.number
    row = '{number},"{chosen} N{number}x"'
    return ClassListing("brightspace", files, _rows("OrgDefinedId,name", row, students))


def github(draw, students):
    """Return clones of GitHub, of one student in a third."""
    title = draw.choice(["lab", "lab-1", "x-ada"])
    kept = students[: draw.choice([1, 5, 5])]
    files = {f"{title}-{each.login}/": each.number for each in kept}
    people = _rows(f"sid,github,{title}", "{number},{login},", students)
    return ClassListing("github", files, people, column=title)


def folder(draw, students):
    """Return files that staff named after students, and copies of some."""
    files = {}
    for each in students:
        own = draw.choice([each.login, each.number, f"N{each.number}x"])
        files[f"{own}.py"] = each.number
        copy = draw.choice([f"{own} (2).py", f"{own}-100/", f"\u200b{own.upper()}.zip"])
        if draw.random() < 0.4:
            files = {**files, f"{own}.py": None, copy: None}
    return ClassListing(
        "folder", files, _rows("sid,login,name", "{number},{login},N{number}x", students)
    )


PLATFORMS = (canvas, moodle, gradescope, blackboard, brightspace, github, folder)


def listings(seed, count):
    """Yield listings of all platforms in turns."""
    draw = random.Random(seed)
    for number in range(count):
        yield PLATFORMS[number % len(PLATFORMS)](draw, _students(draw))
