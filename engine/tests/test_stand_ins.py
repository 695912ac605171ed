"""Stand-ins answer as the original does, or as it should, and fit in any place.

The golden corpus has more forms of answers, in the rows style/layer.
"""

import numpy as np
import pytest
import torch
from torch import nn

from tensormark.worker.stand_ins import accepts, call_with_forms, replace_method, with_signature_of
from tensormark.worker.state import Generators


def with_comma(x):
    return (x + 1,)


def with_more(x):
    return x + 1, "more"


def with_name(x):
    result = x + 1, "more"
    return result


def tenfold(x):
    return 10 * x


@pytest.mark.parametrize("original", [with_comma, with_more])
def test_a_caller_gets_the_values_of_the_original_or_one_if_it_wants_one(original):
    stand_in = with_signature_of(original, tenfold)

    assert call_with_forms(lambda: stand_in(1)[0] + 1) == 11
    assert call_with_forms(lambda: stand_in(1) + 1) == 11


def calls_of_a_caller_that_raises(function, **options):
    """Make a call that always raises; return what `function` gave each time it was repeated."""
    calls = []

    def caller():
        calls.append(function())
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        call_with_forms(caller, **options)
    return calls


def not_to_be_called(x):
    raise AssertionError


def test_a_call_that_raises_is_repeated_with_each_form_if_a_stand_in_has_answered():
    stand_in = with_signature_of(with_comma, tenfold)
    named = with_signature_of(with_name, tenfold)
    unobserved = with_signature_of(not_to_be_called, tenfold)

    assert calls_of_a_caller_that_raises(lambda: stand_in(1)) == [(10,), 10, (10,)]
    assert calls_of_a_caller_that_raises(lambda: named(1), observe=False) == [(10, None), 10]
    assert calls_of_a_caller_that_raises(lambda: unobserved(1), observe=False) == [10, 10]
    assert calls_of_a_caller_that_raises(lambda: 1) == [1]
    assert stand_in(1) == (10,)  # as before


@pytest.mark.parametrize("kind", [list, tuple])
def test_the_tensor_of_the_same_shape_is_exchanged(kind):
    stand_in = with_signature_of(lambda x: kind((torch.zeros(2, 2), x)), lambda x: x + 1)

    result = call_with_forms(lambda: stand_in(torch.zeros(3))[1], unpacks=True)

    assert result.tolist() == [1, 1, 1]


def test_an_original_that_is_observed_changes_nothing():
    def original(module, x):
        module.count = 1
        x.mul_(torch.rand(1) * np.random.rand())
        torch.set_default_dtype(torch.float64)
        return [x, 1]

    module = nn.Linear(1, 1)
    x = torch.ones(2)
    generators = Generators()
    stand_in = with_signature_of(original, lambda module, x: x + 1)

    assert call_with_forms(lambda: stand_in(module, x)[0], unpacks=True).tolist() == [2, 2]
    assert x.tolist() == [1, 1]
    assert not hasattr(module, "count")
    assert not generators.used()
    assert torch.get_default_dtype() is torch.float32


def test_an_original_that_raises_is_read():
    def original(x):
        if x:
            raise SystemExit
        return x, 1

    stand_in = with_signature_of(original, tenfold)

    assert call_with_forms(lambda: stand_in(1)[0], unpacks=True) == 10


def test_a_wrong_call_raises_what_it_would_raise_without_a_stand_in():
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        with_signature_of(with_comma, tenfold)(1, y=2)


def test_the_default_of_a_parameter_that_was_not_published_is_left_out():
    def original(x, more=2):
        return x

    assert with_signature_of(original, tenfold)(1) == 10
    assert with_signature_of(original, lambda x, factor=10: factor * x)(1) == 10


class Minus(nn.Module):
    def forward(self, x):
        return x - 1


class WithModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.method = Minus()


class WithProperty(Minus):
    method = property(lambda self: self.forward)


class Raising(Minus):
    method = property(lambda self: 1 / 0)


class Deaf(Minus):
    """Ignores that its method is set."""

    method = Minus.forward

    def __setattr__(self, name, value):
        if name != "method":
            super().__setattr__(name, value)


class Unsettable(Deaf):
    def __setattr__(self, name, value):
        if name == "method":
            raise AttributeError(name)
        super().__setattr__(name, value)


@pytest.mark.parametrize("kind", [WithModule, WithProperty, Unsettable, Deaf, Raising])
def test_a_stand_in_fits_in_any_place(kind):
    part = kind()
    other = kind()
    replace_method(part, "method", lambda part, x: (part, x + 1))

    assert part.method(1) == (part, 2)
    assert isinstance(part, kind)
    assert isinstance(part.method, Minus) == (kind is WithModule)
    assert type(part).__name__ == kind.__name__
    assert kind is Raising or other.method(torch.ones(1)).item() == 0


def test_how_many_arguments_a_function_takes():
    assert accepts(tenfold, 1, ())
    assert accepts(tenfold, 0, ("x",))
    assert not accepts(tenfold, 2, ())
    assert not accepts(tenfold, 1, ("y",))
    assert accepts(lambda *values: values, 5, ())
    assert accepts(lambda x, **named: x, 1, ("y",))
