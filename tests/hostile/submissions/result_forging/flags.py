# tries: write to staff, by the names of library code that ran
# loses: nothing
def embed(self, input_ids, *more):
    watch = type(of_the_worker("forbidden").WATCH)
    lies = ['=HYPERLINK("http://forged")', "x; sentiment: forged by hand", "forged", "<b>forged"]
    watch.reported = lambda self: lies
    return right(self, input_ids, *more)
