"""Call what an assignment forbids, as a submission would, and refuse names that are not stopped.

A name may exist without its calls being stopped: a class that only inherits its constructor, or a
method of torch's tensors that does not go through torch's dispatcher.

Not covered: compiled functions of torch that take other arguments than those tried below, and of a
module, package or compiled class, more than one function.
"""

import itertools

from tensormark.exercise import Assignment, Call
from tensormark.sandbox.interface import Request
from tensormark.sandbox.sandbox import Sandbox
from tensormark.usage import UserError

PASSED = "nothing stops a call to it"
NAME = "call_what_is_forbidden"
# a function of the submission; what is stopped leaves it by an exception of another kind
CODE = f"""


def {NAME}(name):
    import inspect
    import itertools
    import pkgutil

    def passes(functions, most):
        # code in Python is stopped whatever its arguments are
        passed = most == 0 or not functions
        for count in range(most + 1):
            for function, *arguments in itertools.product(functions, *[values] * count):
                try:
                    function(*arguments)
                    passed = True
                except Exception as error:
                    if type(error).__name__ == "NotAllowedError":
                        raise
        return passed

    values = [1]
    if name.startswith("torch."):
        import torch

        values = [torch.ones(2, 3).mT, 1, [1], [torch.ones(2, 2)], torch.float64]
    target = pkgutil.resolve_name(name)
    has_members = inspect.ismodule(target) or inspect.isclass(target)
    members = [each for each in vars(target).values() if callable(each)] if has_members else []
    if inspect.ismodule(target):
        roots = name.partition(".")[0], target.__name__, "None"
        homes = [str(getattr(each, "__module__", None)).partition(".")[0] for each in members]
        own = [each for each, home in zip(members, homes) if home in roots]
        passed = passes(own, 1)
    elif inspect.isclass(target):
        passed = passes([target, *members], 0)
    else:
        compiled = inspect.isroutine(target) and not inspect.isfunction(target)
        most = 3 if compiled or name.startswith("torch.ops.") else 0
        passed = passes([getattr(target, "fget", target)], most)
    if passed:
        raise AssertionError({PASSED!r})
"""


def require_stopped(assignment: Assignment, sandbox: Sandbox) -> None:
    """Check that each name that an assignment forbids is stopped when a submission calls it.

    Raises:
        UserError: one is not.
    """
    module = assignment.main_file.removesuffix(".py")
    sources = assignment.solution_sources
    sandbox.reload(sources | {module: sources.get(module, "") + CODE})
    policy = assignment.policy
    own = itertools.chain.from_iterable(each.forbidden for each in assignment.exercises)
    names = list(dict.fromkeys([*policy.forbidden, *policy.given_only, *own]))
    requests = []
    for name in names:
        call = Call(NAME, ("name",), module, kind="function", literals={"name": name}).message()
        requests.append(Request(name, frozenset(), call, {}, forbidden=[name]))
    for name, reply in zip(names, sandbox.run(requests), strict=True):
        if PASSED in reply.text:
            where = assignment.rules.get(name, "grader/assignment.py")
            raise UserError(f"{where}: {name} cannot be forbidden: {PASSED}")
