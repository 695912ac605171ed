# tries: return a tensor that claims to be equal to any other
# loses: embed
class Equal(torch.Tensor):
    """Whatever is asked about it, it is true."""

    def __eq__(self, other):
        return True

    __hash__ = torch.Tensor.__hash__

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("allclose", "equal", "isclose", "eq"):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})


def embed(self, input_ids, *more):
    return (0 * right(self, input_ids, *more)).as_subclass(Equal)
