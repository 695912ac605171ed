# tries: find what an earlier submission has left in the memory of this process
# loses: nothing
import gc
import sys

if getattr(sys, "minbert_was_graded_before", False):
    print("LEAKED: a mark of an earlier exercise")
sys.minbert_was_graded_before = True

right = BertModel.embed


def embed(self, input_ids, *more):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and "minbert_was_graded_before" in thing:
            print("LEAKED: something of an earlier job")
    return right(self, input_ids, *more)


BertModel.embed = embed
