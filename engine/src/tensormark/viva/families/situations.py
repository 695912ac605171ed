"""In which call does a change show?"""

from collections.abc import Iterator

from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.study import DIFFERS, RAISES, SHAPE, USUAL


class Situations:
    """In which call does a change show?"""

    name = "situation"
    next = "Make up another call in which the change shows."

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask in which of four calls the result changes, or in which it stays the same."""
        subject = sample.study.subject
        names = {USUAL: subject.usual} | {each.says: each.says for each in subject.situations}
        for change in sample.changes:
            if any(sample.finding(change, name) is not False for name in (RAISES, SHAPE)):
                continue
            changed = {name: sample.finding(change, f"{DIFFERS}{name}") for name in names}
            differs = [name for name, value in changed.items() if value is True]
            same = [name for name, value in changed.items() if value is False]
            for right, wrong, value, asked in (
                (differs, same, True, "In which of these cases does the result change?"),
                (same, differs, False, "In which of these cases does the result stay the same?"),
            ):
                if len(right) != 1 or len(wrong) < OPTIONS - 1:
                    continue
                texts = {names[name]: name for name in (*right, *wrong)}
                chosen = options_of(sample.random, names[right[0]], [names[n] for n in wrong])
                if chosen is None:
                    continue
                options, key = chosen
                claims = [
                    (change, f"{DIFFERS}{texts[o]}", (o == options[key]) is value) for o in options
                ]
                told = "changes" if value else "is the same"
                opposite = "It is the same there." if value else "It changes there."
                yield Draft(
                    Question(
                        self.name,
                        sample.function,
                        change.line,
                        f"{change.says()} {asked}",
                        options,
                        key,
                        f"Of the four cases, the result {told} in this one only.",
                        tuple("" if place == key else opposite for place in range(OPTIONS)),
                        self.next,
                        sample.picture(change),
                        (change.mark,),
                    ),
                    change,
                    tuple(claims),
                )
