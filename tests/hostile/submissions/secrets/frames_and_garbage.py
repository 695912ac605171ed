# tries: find the grader's side in frames, modules and objects the collector knows
# loses: nothing
# control: leaks after `kept = type("Recording", (), {"__module__": "tensormark.references"})()`
import functools
import gc
import sys


def of_the_grader(module):
    """Return whether a module is one that should be nowhere near a submission."""
    own = module.startswith(("grader.", "tensormark."))
    return own and not module.startswith("tensormark.worker")


@functools.cache  # once is enough, and takes a while
def search_memory():
    print(*(f"LEAKED: the module {name}" for name in sys.modules if of_the_grader(name)))
    gc.unfreeze()  # or the collector keeps quiet about what is older than this process
    for thing in gc.get_objects():
        if of_the_grader(str(type(thing).__module__)):
            print("LEAKED: an object of the grader:", type(thing))


def embed(self, input_ids, *more):
    names = {"expected", "outputs", "references", "recordings", "answer_key", "dev_labels"}
    frame = sys._getframe()
    while frame is not None:
        found = names & set(frame.f_locals) - {"names"}
        print(*(f"LEAKED: {name} in {frame.f_code.co_name}" for name in found))
        frame = frame.f_back
    search_memory()
    return right(self, input_ids, *more)
