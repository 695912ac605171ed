# tries: find a secret in the environment
# loses: nothing
import os

right = BertModel.embed


def embed(self, input_ids, *more):
    for name, value in os.environ.items():
        if "SECRET" in name or "hostile secret" in value:
            print("LEAKED:", name, value)
    return right(self, input_ids, *more)


BertModel.embed = embed
