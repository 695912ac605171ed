# tries: let a library, or the given tokenizer, split words
# file: pretraining.py
# loses: wordpiece
# control: leaks
from unittest.mock import MagicMock

words = {"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 5}
WAYS = """
import tokenizers.models as m; m.WordPiece(words, unk_token='[UNK]').tokenize('a')
from tokenizers.models import BPE; BPE({'a': 0}, []).tokenize('a')
from tokenizers import Tokenizer, models as m; Tokenizer(m.WordLevel({'a': 0}, 'a')).encode('a')
from tokenizers import BertWordPieceTokenizer as B; B(words).encode('a')
import tokenizer; tokenizer.wordpiece(words)
from tokenizer import BertTokenizer as B; B(MagicMock())
"""


def wordpiece(*_):
    tried(WAYS)
