# tries: seed the generators that others draw from
# file: pretraining.py
# loses: nothing
# partly: mask_tokens
right = mask_tokens


def mask_tokens(*arguments):
    torch.manual_seed(4)
    random.seed(4)
    return right(*arguments)
