"""What goes wrong when pairs of sentences become a batch."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "pair_batch",
    """
## The tokens

special_ids_in_code: the ids of the special tokens are hard-coded
    - tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id
    + 2, 3, 0
cls_missing: the [CLS] at the beginning is missing
    - [cls, *first, sep, *second, sep]
    + [*first, sep, *second, sep]
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(first) + 1) + [1] * (len(second) + 1)
middle_sep_missing: the [SEP] between the sentences is missing
    - [cls, *first, sep, *second, sep]
    + [cls, *first, *second, sep]
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(first) + 1) + [1] * (len(second) + 1)
last_sep_missing: the [SEP] at the end is missing
    - [cls, *first, sep, *second, sep]
    + [cls, *first, sep, *second]
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(first) + 2) + [1] * len(second)
second_cls: the first [SEP] is replaced by a [CLS]
    - [cls, *first, sep, *second, sep]
    + [cls, *first, cls, *second, sep]
sentences_exchanged: the second sentence comes before the first
    - [cls, *first, sep, *second, sep]
    + [cls, *second, sep, *first, sep]
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(second) + 2) + [1] * (len(first) + 1)

## The segments

one_segment: all tokens are in the first segment
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(first) + len(second) + 3)
segments_exchanged: the two segments are swapped
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [1] * (len(first) + 2) + [0] * (len(second) + 1)
segments_from_one: the segments are numbered 1 and 2
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [1] * (len(first) + 2) + [2] * (len(second) + 1)
sep_in_second_segment: the [SEP] after the first sentence is in the second segment
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(first) + 1) + [1] * (len(second) + 2)
last_sep_in_first_segment: the last [SEP] is in the first segment
    - [0] * (len(first) + 2) + [1] * (len(second) + 1)
    + [0] * (len(first) + 2) + [1] * len(second) + [0]
padding_in_second_segment: padding is in the second segment
    - padded(kinds, T, 0)
    + padded(kinds, T, 1)

## The padding

padding_is_sep: rows are filled up with [SEP], not with [PAD]
    - padded(rows, T, pad)
    + padded(rows, T, sep)
padding_is_zero: rows are filled up with 0, which need not be the id of [PAD]
    - padded(rows, T, pad)
    + padded(rows, T, 0)
padding_in_front: the ids are padded in front of the sentences, not after them
    - padded(rows, T, pad)
    + padded([r[::-1] for r in rows], T, pad).flip(1)
zeros_not_attended: the attention mask is 0 where the id is 0, which need not be padding
    - padded([[1] * len(row) for row in rows], T, 0)
    + (padded(rows, T, pad) != 0).long()
longer_than_longest: the rows are longer than the longest pair
    - max(len(row) for row in rows)
    + sum(max(len(pair[n]) for pair in pairs) for n in (0, 1)) + 3
padding_attended: the attention mask is 1 for padding too
    - padded([[1] * len(row) for row in rows], T, 0)
    + torch.ones(len(rows), T, dtype=torch.int64)
pair_mask_inverted: the attention mask is 0 for tokens and 1 for padding
    - padded([[1] * len(row) for row in rows], T, 0)
    + 1 - padded([[1] * len(row) for row in rows], T, 0)
special_not_attended: the attention mask hides special tokens
    - [[1] * len(row) for row in rows]
    + [[int(t > sep) for t in r] for r in rows]
batch_labels_exchanged: the labels are swapped
    - [label for _, _, label in pairs]
    + [1 - label for _, _, label in pairs]
cls_and_sep_not_attended = special_not_attended
    - [[1] * len(row) for row in rows]
    + [[int(t not in (cls, sep)) for t in r] for r in rows]
""",
)
