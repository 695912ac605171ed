"""Sheets as quizzes that Canvas imports: a zip of QTI 1.2, with a quiz for each student.

Canvas has no quiz whose questions depend on who takes it, and an import cannot assign a quiz to a
student. So each quiz arrives unpublished, counts for nothing and shows no result until staff change
that; with its own access code it can be published to everybody and still be for one student only.
"""

import hashlib
from collections.abc import Mapping, Sequence
from html import escape

from tensormark.reports.markup import Element, element, joined
from tensormark.viva.question import Question, Sheet
from tensormark.viva.texts import LETTERS, fragment, marked
from tensormark.zipped import zipped

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
CANVAS = "http://canvas.instructure.com/xsd/cccv1p0"
META = "associatedcontent/imscc_xmlv1p1/learning-application-resource"
SETTINGS = {
    "shuffle_answers": "false",
    "scoring_policy": "keep_highest",
    "hide_results": "always",
    "quiz_type": "practice_quiz",
    "show_correct_answers": "false",
    "allowed_attempts": "1",
    "available": "false",
}


def _name(*texts: str) -> str:
    """Return an identifier that Canvas recognizes when the same quiz is imported again."""
    return "i" + hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:31]


def _file(root: Element) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'.encode()


def _text(html: Element) -> Element:
    text = element("mattext", Element(escape(html, quote=False)), texttype="text/html")
    return element("material", text)


def _metadata(**fields: object) -> Element:
    listed = (
        element("qtimetadatafield", element("fieldlabel", label), element("fieldentry", entry))
        for label, entry in fields.items()
    )
    return element("qtimetadata", *listed)


def _condition(then: Element, chosen: str = "", goes_on: bool = True) -> Element:
    """Return the condition that an option was chosen, or always, and what follows from it."""
    equal = element("varequal", chosen, respident="response1") if chosen else element("other")
    yes = "Yes" if goes_on else "No"
    return element("respcondition", element("conditionvar", equal), then, continue_=yes)


def _shown(name: str) -> Element:
    return element("displayfeedback", feedbacktype="Response", linkrefid=name)


def _feedback(name: str, text: str) -> Element:
    return element("itemfeedback", element("flow_mat", _text(marked(text))), ident=name)


def _choice(options: Mapping[str, str]) -> Element:
    labels = (
        element("response_label", _text(marked(text)), ident=letter)
        for letter, text in options.items()
    )
    choice = element("render_choice", *labels)
    return element("response_lid", choice, ident="response1", rcardinality="Single")


def _item(question: Question, sheet: Sheet, name: str) -> Element:
    options = dict(zip(LETTERS, question.options, strict=False))
    why = {letter: text for letter, text in zip(options, question.others, strict=False) if text}
    points = element("decvar", maxvalue=100, minvalue=0, varname="SCORE", vartype="Decimal")
    right = element("setvar", 100, action="Set", varname="SCORE")
    kind = _metadata(question_type="multiple_choice_question", points_possible=1)
    text = _text(fragment(question, sheet))
    return element(
        "item",
        element("itemmetadata", kind),
        element("presentation", text, _choice(options)),
        element(
            "resprocessing",
            element("outcomes", points),
            _condition(_shown("general_fb")),
            *(_condition(_shown(f"{letter}_fb"), letter) for letter in why),
            _condition(right, LETTERS[question.key], goes_on=False),
        ),
        _feedback("general_fb", question.explanation),
        *(_feedback(f"{letter}_fb", text) for letter, text in why.items()),
        ident=name,
        title=f"[{question.code}] {question.family}",
    )


def _assessment(sheet: Sheet, name: str, title: str) -> Element:
    items = (_item(each, sheet, _name(name, each.code)) for each in sheet.questions)
    section = element("section", *items, ident="root_section")
    return element(
        "questestinterop", element("assessment", section, ident=name, title=title), xmlns=QTI
    )


def _meta(sheet: Sheet, name: str, title: str, code: str) -> Element:
    settings = {**SETTINGS, "points_possible": len(sheet.questions)}
    if code:
        settings["access_code"] = code
    listed = (element(tag, value) for tag, value in settings.items())
    return element("quiz", element("title", title), *listed, identifier=name, xmlns=CANVAS)


def _resources(name: str) -> Element:
    meta = f"{name}/assessment_meta.xml"
    return joined(
        element(
            "resource",
            element("file", href=f"{name}/{name}.xml"),
            element("dependency", identifierref=f"{name}m"),
            identifier=name,
            type="imsqti_xmlv1p2",
        ),
        element(
            "resource", element("file", href=meta), identifier=f"{name}m", type=META, href=meta
        ),
    )


def _manifest(names: Sequence[str]) -> Element:
    about = element("schema", "IMS Content"), element("schemaversion", "1.1.3")
    return element(
        "manifest",
        element("metadata", *about),
        element("organizations"),
        element("resources", *map(_resources, names)),
        identifier=_name(*names),
        xmlns=PACKAGE,
    )


def quizzes(
    sheets: Mapping[str, Sheet], title: str, codes: Mapping[str, str] | None = None
) -> bytes:
    """Return the zip.

    Args:
        sheets: by the student's name.
        codes: access codes of some students' quizzes; Canvas asks for them before any question.
    """
    files, names = dict[str, bytes](), list[str]()
    for student, sheet in sheets.items():
        name, called = _name(title, student), f"{title}: {student}"
        names.append(name)
        files[f"{name}/{name}.xml"] = _file(_assessment(sheet, name, called))
        meta = _meta(sheet, name, called, (codes or {}).get(student, ""))
        files[f"{name}/assessment_meta.xml"] = _file(meta)
    return zipped({**files, "imsmanifest.xml": _file(_manifest(names))})
