# tries: end the process with success in the middle of an exercise
# loses: embed
import os


def embed(self, input_ids, *more):
    os._exit(0)
