"""The kinds of questions, with a class for each."""

from tensormark.viva.families.cause import Cause
from tensormark.viva.families.counterfactual import Counterfactual
from tensormark.viva.families.equal import Equal
from tensormark.viva.families.gradients import Gradients
from tensormark.viva.families.messages import Messages
from tensormark.viva.families.numbers import Numbers
from tensormark.viva.families.shapes import Shapes
from tensormark.viva.families.situations import Situations
from tensormark.viva.family import Family

FAMILIES: tuple[Family, ...] = (
    Counterfactual(),
    Cause(),
    Equal(),
    Situations(),
    Gradients(),
    Shapes(),
    Numbers(),
    Messages(),
)
