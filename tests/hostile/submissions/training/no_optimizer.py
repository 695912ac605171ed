# tries: replace the optimiser by one that does nothing
# training: chance
torch.optim.AdamW.step = lambda self, closure=None: None
