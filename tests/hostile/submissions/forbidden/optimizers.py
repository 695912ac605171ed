# tries: let torch's optimizers take Adam's steps
# loses: embed
# control: leaks
import torch.optim._functional
import torch.optim.adam


def steps(made, **options):
    parameter = nn.Parameter(torch.ones(3))
    parameter.grad = torch.ones(3)
    made([parameter], **options).step()


def step(function, **more):
    lists = [[torch.ones(3)] for _ in range(4)]
    rates = {"lr": 0.1, "beta1": 0.9, "beta2": 0.9, "weight_decay": 0.0, "eps": 1e-8}
    return function(*lists, [], [torch.ones(())], amsgrad=False, maximize=False, **rates, **more)


WAYS = """
steps(torch.optim.AdamW)
steps(torch.optim.Adam)
steps(torch.optim.RAdam)
steps(type('Mine', (torch.optim.AdamW,), {}))
steps(torch.optim.AdamW, fused=True)
step(torch.optim._functional.adamw, foreach=False)
step(torch.optim._functional.adam.__wrapped__, foreach=False)
from torch.optim.adamw import adamw; step(adamw, foreach=False)
step(torch._fused_adamw_)
step(torch.ops.aten._fused_adamw)
step(torch._C._VariableFunctions._fused_adam_)
"""


def embed(self, *_):
    tried(WAYS)
