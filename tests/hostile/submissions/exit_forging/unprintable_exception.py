# tries: raise an exception that raises when it is looked at
# loses: embed
class Unprintable(BaseException):
    def __str__(self):
        raise self

    __repr__ = __str__


def embed(self, input_ids, *more):
    raise Unprintable
