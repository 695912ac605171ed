# tries: replace the optimiser by one that does nothing
# scores: all
# training: chance
torch.optim.AdamW.step = lambda self, closure=None: None
