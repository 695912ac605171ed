"""What goes wrong when words fall into pieces, and other ways to get it right."""

from tensormark.authoring.variants import bodies, mistakes

HONEST = bodies(
    "wordpiece",
    {
        "wordpiece_as_released": """
            output = []
            for word in words:
                if len(word) > max_length:
                    output.append([unknown_id])
                    continue
                start, pieces = 0, []
                while start < len(word):
                    for end in range(len(word), start, -1):
                        piece = word[start:end] if start == 0 else f"##{word[start:end]}"
                        if piece in vocabulary:
                            break
                    else:
                        pieces = [unknown_id]
                        break
                    pieces.append(vocabulary[piece])
                    start = end
                output.append(pieces)
            return output
            """,
        "wordpiece_recursive": """
            def split(rest, mark=""):
                if not rest:
                    return []
                ends = (n for n in range(len(rest), 0, -1) if mark + rest[:n] in vocabulary)
                end = next(ends, None)
                if end is None:
                    return [None]
                return [vocabulary[mark + rest[:end]]] + split(rest[end:], "##")

            known = (split(word) if len(word) <= max_length else [None] for word in words)
            return [[unknown_id] if None in ids else ids for ids in known]
            """,
        "wordpiece_by_vocabulary": """
            longest_first = sorted(vocabulary, key=len, reverse=True)
            heads = [piece for piece in longest_first if not piece.startswith("##")]
            tails = [piece for piece in longest_first if piece.startswith("##")]
            found = []
            for word in words:
                ids, rest, candidates = [], word, heads
                while rest and len(word) <= max_length:
                    fits = [p for p in candidates if rest.startswith(p.removeprefix("##"))]
                    if not fits:
                        break
                    ids.append(vocabulary[fits[0]])
                    rest, candidates = rest[len(fits[0].removeprefix("##")):], tails
                found.append([unknown_id] if rest else ids)
            return found
            """,
    },
)

VARIANTS = mistakes(
    "wordpiece",
    """
## Longest first

wordpiece_shortest_first: the shortest piece that fits is taken, not the longest
    - row, start, end = [], 0, len(word)
    + row, start, end = [], 0, 1
    - while start < end <= max_length:
    + while start < end <= len(word) <= max_length:
    - start, end = end, len(word)
    + start, end = end, end + 1
    - end -= 1
    + end += 1
wordpiece_goes_back: where the longest piece leads to a dead end, a shorter one is tried
    - rows = []
    + def spelled(rest, mark):
    +         for end in range(len(rest), 0, -1):
    +             if mark + rest[:end] in vocabulary:
    +                 others = spelled(rest[end:], "##")
    +                 if others is not None:
    +                     return [vocabulary[mark + rest[:end]], *others]
    +         return None if rest else []
    +
    +     rows = []
    - rows.append(row if start == len(word) else [unknown_id])
    + rows.append(len(word) <= max_length and spelled(word, '') or [unknown_id])
wordpiece_from_the_end: the pieces are looked for from the end of the word, not from its beginning
    - row.append(vocabulary[piece])
    + row.insert(0, vocabulary[piece])
    - start, end = end, len(word)
    + start, end = 0, start
    - end -= 1
    + start += 1
    - start == len(word)
    + 0 == end
wordpiece_zero_missed: a piece whose id is 0 counts as missing
    - if piece in vocabulary:
    + if vocabulary.get(piece):
wordpiece_whole_words: only whole words are looked up
    - end -= 1
    + break
wordpiece_two_pieces: a word is split into two pieces at most
    - while start < end <= max_length:
    + while start < end <= max_length and len(row) < 2:
wordpiece_no_single_characters: a piece of a single character is never tried
    - while start < end <= max_length:
    + while start + 1 < end <= max_length:
wordpiece_lower_case: words are lowercased first
    - row, start, end = [], 0, len(word)
    + word = word.lower()
    +         row, start, end = [], 0, len(word)

## The mark

wordpiece_no_mark: pieces inside a word are looked up without their mark
    - ("##" if start > 0 else "") + word[start:end]
    + word[start:end]
wordpiece_always_mark: the first piece is looked up with the mark, too
    - ("##" if start > 0 else "") + word[start:end]
    + "##" + word[start:end]
wordpiece_mark_exchanged: the mark is on the first piece, and not on the others
    - start > 0
    + start == 0
wordpiece_mark_optional: inside a word, a piece without the mark is taken where none with it fits
    - if piece in vocabulary:
    + piece = piece if piece in vocabulary else word[start:end]
    +             if piece in vocabulary:
wordpiece_mark_at_the_start: a word may begin with a piece that has the mark
    - if piece in vocabulary:
    + piece = piece if piece in vocabulary else "##" + word[start:end]
    +             if piece in vocabulary:

## Unknown words

wordpiece_rest_unknown: only the rest that no piece fits is unknown, not the whole word
    - row if start == len(word) else [unknown_id]
    + row if start == len(word) else [*row, unknown_id]
wordpiece_rest_dropped: the pieces before the place where none fits are kept, and the rest is dropped
    - row if start == len(word) else [unknown_id]
    + row if len(word) <= max_length else [unknown_id]
wordpiece_characters_unknown: each character that no piece fits is unknown by itself
    - end -= 1
    + end -= 1
    +                 if start == end:
    +                     row.append(unknown_id)
    +                     start, end = start + 1, len(word)
wordpiece_characters_dropped: characters that no piece fits are skipped
    - end -= 1
    + end -= 1
    +                 if start == end:
    +                     start, end = start + 1, len(word)
wordpiece_unknown_without_id: an unknown word has no id at all
    - [unknown_id]
    + []
wordpiece_unknown_by_name: an unknown word gets the id of [UNK] in the vocabulary, not the one that is given
    - [unknown_id]
    + [vocabulary["[UNK]"]]
wordpiece_unknown_left_out: unknown words are left out, so there are fewer lists than words
    - rows.append(row if start == len(word) else [unknown_id])
    + rows += [row] if start == len(word) else []
wordpiece_unknown_for_each_piece: an unknown word has the unknown id for each piece that was found, and one more
    - row if start == len(word) else [unknown_id]
    + row if start == len(word) else [unknown_id] * (len(row) + 1)

## Long words

wordpiece_no_limit: the length limit is ignored
    - <= max_length:
    + :
wordpiece_limit_too_low: a word of exactly the maximum length is unknown, too
    - <= max_length
    + < max_length
wordpiece_limit_too_high: a word that is one character too long is not unknown
    - <= max_length
    + <= max_length + 1
wordpiece_limit_in_code: the length limit is hard-coded
    - <= max_length
    + <= 100
wordpiece_limit_of_bytes: the limit counts bytes, not characters
    - while start < end <= max_length:
    + while start < end and len(word.encode()) <= max_length:
wordpiece_limit_of_pieces: the limit counts pieces, not characters
    - <= max_length:
    + :
    - start == len(word)
    + start == len(word) and len(row) <= max_length
wordpiece_cut: a word that is too long is cut, not unknown
    - row, start, end = [], 0, len(word)
    + word = word[:max_length]
    +         row, start, end = [], 0, len(word)
""",
)
