"""Stand-ins answer as the original does, or as it should."""

from typing import Any

import pytest

from tensormark.worker.stand_ins import called_like, once_more, takes, takes_apart


def with_comma(x: int) -> Any:
    return (x + 1,)


def with_more(x: int) -> Any:
    return x + 1, "more"


def played(x: int) -> int:
    return 10 * x


def test_a_caller_that_wants_further_values_gets_them() -> None:
    stand_in = called_like(with_more, played)

    assert once_more(lambda: stand_in(1)[0] + 1) == 11


def test_a_caller_that_wants_one_value_gets_it_in_a_second_call() -> None:
    stand_in = called_like(with_comma, played)

    assert once_more(lambda: stand_in(1) + 1) == 11


def test_what_the_caller_itself_raises_is_raised() -> None:
    stand_in = called_like(with_comma, played)
    calls = []

    def caller() -> None:
        calls.append(stand_in(1))
        raise KeyError("own")

    with pytest.raises(KeyError, match="own"):
        once_more(caller)
    assert calls == [(10,), 10]
    assert stand_in(1) == (10,)  # as before


def test_without_further_values_nothing_is_called_twice() -> None:
    calls: list[int] = []

    def caller() -> None:
        calls.append(called_like(played, played)(1))
        raise KeyError

    with pytest.raises(KeyError):
        once_more(caller)
    assert calls == [10]


def test_how_many_arguments_a_function_takes() -> None:
    assert takes(played, 1)
    assert not takes(played, 2)
    assert takes(lambda *values: values, 5)


def unpacks(layer: Any, x: int) -> Any:
    first, _ = layer(x)
    return first


def indexes_inside(layer: Any, x: int) -> Any:
    def inner() -> Any:
        return layer(x)[0]

    return inner()


def takes_the_rest(layer: Any, x: int) -> Any:
    held = layer(x)
    first, *_ = held
    return first


def counts_layers(layers: Any, x: Any) -> Any:
    rows, columns = x.shape[:2]
    width = x.shape[2]
    for _number, layer in enumerate(layers):
        x = layer(x)
    return layers[rows](x.size(columns), x[:, :width])


@pytest.mark.parametrize(
    ("function", "apart"),
    [
        (unpacks, True),
        (indexes_inside, True),
        (takes_the_rest, True),
        (played, False),
        (counts_layers, False),
    ],
)
def test_who_takes_a_result_apart(function: Any, apart: bool) -> None:
    assert takes_apart(function.__code__) is apart
