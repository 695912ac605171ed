# tries: hang in every function, each for as long as it is waited for
# loses: everything
import time


def hang(*_, **__):
    time.sleep(1000)


BertSelfAttention.attention = BertLayer.add_norm = BertLayer.forward = hang
BertModel.embed = BertModel.forward = hang
