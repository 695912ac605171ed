# tries: change its inputs where they lie
# loses: nothing
# partly: embed


def embed(self, input_ids, *more):
    answer = right(self, input_ids, *more)
    input_ids.zero_()
    return answer
