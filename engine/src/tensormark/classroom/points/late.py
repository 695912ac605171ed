"""The late penalty of a class, a rule in a small TOML file.

points = 5            # or percent = 10: of the maximum or, with of = "score", of the score
per = "day"           # or "hour"; one that has started counts in full
grace_minutes = 15    # up to this late costs nothing; beyond it, lateness counts from the deadline
most = 30             # the most that is taken off, in points or percent as above
zero_after_days = 7   # anything later gets no points
written = true        # also costs points of written questions; by default only those of the code
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import number_of
from tensormark.classroom.failure import FileError
from tensormark.classroom.typed import small_text
from tensormark.reports.text import shown, visible

UNITS = {"day": 1440, "hour": 60}  # in minutes
OF = ("maximum", "score")
FINEST = Decimal("0.0001")  # of points and percent
# the minimum and maximum of keys with fractions, and of keys with whole numbers
NUMBERS = {"points": (FINEST, 1000), "percent": (FINEST, 100), "most": (FINEST, 1000)}
WHOLE = {"grace_minutes": (0, 10_080), "zero_after_days": (1, 366)}


@dataclass(frozen=True)
class Rule:
    """What each started unit of time after the deadline costs; the keys of the file."""

    points: Decimal | None = None
    percent: Decimal | None = None
    of: str = OF[0]
    per: str = "day"
    grace_minutes: Decimal = Decimal(0)
    most: Decimal | None = None
    zero_after_days: Decimal | None = None
    written: bool = False

    def penalty(self, minutes: int, reached: Decimal, maximum: Decimal) -> tuple[Decimal, str]:
        """Return the points to take off, and why; 0 and "" if there are none.

        Args:
            minutes: how late it is, rounded up; reached: the points before the penalty.
        """
        reached, days = max(reached, Decimal(0)), self.zero_after_days
        if minutes <= self.grace_minutes:
            return Decimal(0), ""
        if days is not None and minutes > days * UNITS["day"]:
            return reached, f"late: more than {number_of(int(days), 'day')}"
        each, unit = (self.points, "points") if self.points else (self.percent or Decimal(0), "%")
        count = -(-minutes // UNITS[self.per])
        cost, why = count * each, f"late: {number_of(count, self.per)}, {shown(each)} {unit} each"
        if self.most is not None and cost > self.most:
            cost, why = self.most, f"{why}, at most {shown(self.most)}"
        if self.percent:
            cost = (cost * (reached if self.of == "score" else maximum)).scaleb(-2)
        return cost, why


def _number(where: str, name: str, value: object) -> Decimal:
    number = Decimal(value) if type(value) is int else value  # and not bool
    least, most = WHOLE.get(name) or NUMBERS[name]
    in_range = isinstance(number, Decimal) and number.is_finite() and least <= number <= most
    if not isinstance(number, Decimal) or not in_range or number % (1 if name in WHOLE else FINEST):
        kind = "a whole number" if name in WHOLE else "a number with at most 4 decimals"
        raise FileError(f"{where}: {name} must be {kind}, {least} to {most}")
    return number


def _rule(where: str, table: Mapping[str, Any]) -> Rule:
    names = (*NUMBERS, *WHOLE, "of", "per", "written")
    if unknown := [name for name in table if name not in names]:
        name = visible(unknown[0], 40)
        raise FileError(f"{where}: there is no key {name!r}; use {', '.join(names)}")
    for name, choices in (("of", OF), ("per", tuple(UNITS))):
        if table.get(name, choices[0]) not in choices:
            raise FileError(f'{where}: {name} must be "{choices[0]}" or "{choices[1]}"')
    if not isinstance(table.get("written", False), bool):
        raise FileError(f"{where}: written must be true or false")
    if ("points" in table) == ("percent" in table):
        raise FileError(f"{where}: give either points or percent, such as points = 5")
    if "of" in table and "points" in table:
        raise FileError(f"{where}: `of` requires percent; remove it, or replace points")
    numbers = {name: _number(where, name, table[name]) for name in names[:-3] if name in table}
    return Rule(**{**table, **numbers})


def read_rule(path: Path) -> Rule:
    """Read a rule; see the module.

    Raises:
        FileError: the file is not a valid rule.
    """
    text = small_text(path)
    try:
        table = tomllib.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise FileError(f"{path}: is not TOML: {visible(error, 200)}") from error
    return _rule(str(path), table)
