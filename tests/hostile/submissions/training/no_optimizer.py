# tries: replace the optimiser by one that does nothing
# training: refused
torch.optim.AdamW.step = lambda self, closure=None: None
