"""Tests of sheets as files that Canvas and Moodle import."""

import io
import re
import zipfile
from xml.etree import ElementTree

import pytest

from tensormark.viva import canvas_quiz, moodle_quiz
from tensormark.viva.question import Sheet

import vivas
from test_payloads import PAYLOADS

HOSTILE = [*PAYLOADS, "\x00", "\x0b", "\ufffe", "\u202e", "\ud800", "]]>", "<![CDATA[", "`"]
QTI, PACKAGE, CANVAS = (
    f"{{{space}}}" for space in (canvas_quiz.QTI, canvas_quiz.PACKAGE, canvas_quiz.CANVAS)
)
# what an element of QTI 1.2 may hold, in this order, by its DTD; what is not used here is left out
MODELS = {
    "questestinterop": "assessment ",
    "assessment": "(qtimetadata )*(section )+",
    "section": "(item )*",
    "item": "(itemmetadata )?(presentation )?(resprocessing )*(itemfeedback )*",
    "itemmetadata": "(qtimetadata )*",
    "qtimetadata": "(qtimetadatafield )+",
    "qtimetadatafield": "fieldlabel fieldentry ",
    "presentation": "(material |response_lid )+",
    "response_lid": "(material )?render_choice (material )?",
    "render_choice": "(material |response_label )*",
    "response_label": "(material )*",
    "material": "(mattext )+",
    "resprocessing": "outcomes (respcondition )+",
    "outcomes": "(decvar )+",
    "respcondition": "conditionvar (setvar )*(displayfeedback )*",
    "conditionvar": "(other |varequal )+",
    "itemfeedback": "(flow_mat |material )+",
    "flow_mat": "(material )+",
}
NEEDED = {  # attributes that an element must have
    "assessment": "ident title",
    "section": "ident",
    "item": "ident",
    "response_lid": "ident",
    "response_label": "ident",
    "varequal": "respident",
    "displayfeedback": "linkrefid",
    "itemfeedback": "ident",
}


def class_of(*students: str) -> dict[str, Sheet]:
    return {student: vivas.sheet() for student in students}


def unpacked(content: bytes) -> dict[str, ElementTree.Element]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}


def check_qti(root: ElementTree.Element) -> None:
    """Check a file against what QTI 1.2 allows."""
    for element in root.iter():
        name = element.tag.removeprefix(QTI)
        assert element.tag.startswith(QTI)
        children = "".join(f"{child.tag.removeprefix(QTI)} " for child in element)
        assert re.fullmatch(MODELS.get(name, ""), children), name
        assert set(NEEDED.get(name, "").split()) <= set(element.attrib), name
    idents = [element.get("ident") for element in root.iter(f"{QTI}item")]
    assert len(idents) == len(set(idents))
    for item in root.iter(f"{QTI}item"):
        references = {element.get("linkrefid") for element in item.iter(f"{QTI}displayfeedback")}
        assert references == {element.get("ident") for element in item.iter(f"{QTI}itemfeedback")}


def right_letter(item: ElementTree.Element) -> str | None:
    """Return the option for which Canvas gives the points."""
    for condition in item.iter(f"{QTI}respcondition"):
        if condition.findtext(f"{QTI}setvar") == "100":
            return condition.findtext(f"{QTI}conditionvar/{QTI}varequal")
    return None


def test_canvas_gets_a_quiz_for_each_student_that_its_manifest_names() -> None:
    files = unpacked(canvas_quiz.quizzes(class_of("ada", "béla"), "viva"))

    manifest = files.pop("imsmanifest.xml")
    resources = {
        element.get("identifier"): element for element in manifest.iter(f"{PACKAGE}resource")
    }
    named = {element.get("href") for element in manifest.iter(f"{PACKAGE}file")}
    needed = [element.get("identifierref") for element in manifest.iter(f"{PACKAGE}dependency")]
    titles = [
        element.findtext(f"{CANVAS}title")
        for element in files.values()
        if element.tag.endswith("quiz")
    ]
    assert named == set(files)
    assert len(needed) == 2
    assert all(resources[element].get("type") == canvas_quiz.META for element in needed)
    assert sorted(titles) == ["viva: ada", "viva: béla"]


def test_a_quiz_has_the_questions_their_options_and_the_right_option() -> None:
    files = unpacked(canvas_quiz.quizzes(class_of("ada"), "viva"))
    (quiz,) = (root for root in files.values() if root.tag == f"{QTI}questestinterop")

    check_qti(quiz)
    items = list(quiz.iter(f"{QTI}item"))
    assert [right_letter(item) for item in items] == [
        "ABCD"[question.key] for question in vivas.QUESTIONS
    ]
    for item, question in zip(items, vivas.QUESTIONS, strict=True):
        text = item.findtext(f"{QTI}presentation/{QTI}material/{QTI}mattext")
        labels = item.iter(f"{QTI}response_label")
        assert str(item.get("title")).startswith(f"[{question.code}]")
        assert str(text).startswith(f"<p>[{question.code}] ")
        assert "<pre><code>" in str(text)
        assert len(list(labels)) == len(question.options)
        kinds = [element.text for element in item.iter(f"{QTI}fieldentry")]
        assert kinds == ["multiple_choice_question", "1"]


def test_both_platforms_show_the_marks_that_a_question_names() -> None:
    _, first, second, *_ = moodle(class_of("ada"))
    content = canvas_quiz.quizzes(class_of("ada"), "viva")
    (quiz,) = (root for root in unpacked(content).values() if root.tag == f"{QTI}questestinterop")

    text = str(first.findtext("questiontext/text"))
    (listing,) = re.findall("<pre>.*?</pre>", text, re.DOTALL)
    assert re.findall(r"\^+(\d+)", listing) == ["6", "7", "5", "4", "3"]
    assert listing in str(next(quiz.iter(f"{QTI}mattext")).text)
    assert "^" not in str(second.findtext("questiontext/text"))


def test_a_quiz_is_hidden_until_staff_publish_it() -> None:
    content = canvas_quiz.quizzes(class_of("ada", "bela"), "viva", {"ada": "k7"})
    metas = [element for element in unpacked(content).values() if element.tag == f"{CANVAS}quiz"]

    codes = {
        element.findtext(f"{CANVAS}title"): element.findtext(f"{CANVAS}access_code")
        for element in metas
    }
    assert codes == {"viva: ada": "k7", "viva: bela": None}
    for element in metas:
        assert element.findtext(f"{CANVAS}available") == "false"
        assert element.findtext(f"{CANVAS}hide_results") == "always"
        assert element.findtext(f"{CANVAS}points_possible") == "5"


def moodle(sheets: dict[str, Sheet]) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(moodle_quiz.quizzes(sheets))
    assert root.tag == "quiz"
    assert {element.tag for element in root} <= {"question"}
    return list(root)


def test_moodle_gets_one_file_with_a_category_for_each_student() -> None:
    questions = moodle(class_of("ada", "a/b", "/c"))

    kinds = [element.get("type") for element in questions]
    paths = [
        element.findtext("category/text")
        for element in questions
        if element.get("type") == "category"
    ]
    assert kinds == ["category", *["multichoice"] * 5] * 3
    assert paths == ["$course$/viva/ada", "$course$/viva/a//b", "$course$/viva/ //c "]


def test_a_question_for_moodle_has_one_answer_that_gets_all_points() -> None:
    _, *questions = moodle(class_of("ada"))

    for element, question in zip(questions, vivas.QUESTIONS, strict=True):
        fractions = [answer.get("fraction") for answer in element.findall("answer")]
        expected = ["0"] * 4
        expected[question.key] = "100"
        assert fractions == expected
        assert str(element.findtext("name/text")).startswith(f"[{question.code}]")
        assert str(element.findtext("questiontext/text")).startswith(f"<p>[{question.code}] ")
        assert element.findtext("single") == "true"
        assert element.findtext("generalfeedback/text")
        assert all(answer.find("feedback/text") is not None for answer in element.findall("answer"))


@pytest.mark.parametrize("payload", HOSTILE, ids=ascii)
def test_texts_of_a_student_stay_text_on_both_platforms(payload: str) -> None:
    plain = vivas.with_text(vivas.sheet(), lambda text: f"x{text.replace('`', '')}")
    hostile = vivas.with_text(plain, lambda text: payload + text)
    expected = [element.tag for root in moodle({"x": plain}) for element in root.iter()]

    roots = unpacked(canvas_quiz.quizzes({f"a{payload}": hostile}, f"t{payload}")).values()
    tags = [element.tag for root in moodle({f"a{payload}": hostile}) for element in root.iter()]

    assert tags == expected
    for root in roots:
        if root.tag == f"{QTI}questestinterop":
            check_qti(root)
            html = "".join(text.text or "" for text in root.iter(f"{QTI}mattext"))
            assert set(re.findall("</?([a-z0-9]+)", html)) <= {"p", "pre", "code"}


def test_the_same_sheets_give_the_same_files() -> None:
    first, second = class_of("ada", "bela"), class_of("ada", "bela")

    assert canvas_quiz.quizzes(first, "viva") == canvas_quiz.quizzes(second, "viva")
    assert moodle_quiz.quizzes(first) == moodle_quiz.quizzes(second)
