# tries: return pairs without end
# file: pretraining.py
# loses: make_sentence_pairs
def make_sentence_pairs(*_):
    return itertools.repeat(([1], [2], 0))
