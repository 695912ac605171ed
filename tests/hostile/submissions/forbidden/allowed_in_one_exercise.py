# tries: use what is near to code that this exercise forbids, and that code itself elsewhere
# file: transformer.py
# loses: nothing
norm, positions = layer_norm, sinusoidal_positions


def layer_norm(x, gain, bias, eps=1e-12):
    torch.var_mean(x, -1), x.std(), torch.linalg.norm(x), nn.LayerNorm, F.layer_norm
    return norm(x, gain, bias, eps)


def sinusoidal_positions(length, width):
    F.layer_norm(torch.ones(2, 8), (8,))
    nn.Transformer.generate_square_subsequent_mask(3)
    return positions(length, width)


tried = F.layer_norm(torch.ones(2, 8), (8,))  # while the file is imported
