"""Which sizes have letters beside an exception; the golden corpus has the lines with shapes."""

from tensormark.worker.exceptions import letters_of


def test_sizes_are_those_of_the_call_or_of_its_config():
    call = {"config": {"B": 3, "width": 4, "T": "x"}}

    assert letters_of(call) == {"B": 3}
    assert letters_of({**call, "letters": {"N": 2}}) == {"N": 2}
    assert letters_of({}) == {}
