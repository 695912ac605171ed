"""Lines on which tokenizers are most likely to disagree, one for each kind of text."""

HARD_LINES = (
    "It 's a lovely film with lovely performances by Buy and Accorsi .",
    "ÀÉÎÕÜ àéîõü ÅÄÖ ŁÓDŹ ñandú façade naïve Ægir œuvre",  # accents, capitals, ligatures
    "cafe\u0301 nai\u0308ve A\u030angstro\u0308m z\u0335\u0321algo\u0338",  # combining accents
    "Straße ẞ İstanbul ıssız ΣΊΣΥΦΟΣ ﬁlm ﬂuff Ǆ",  # letters whose lower case has another length
    "東京は日本の首都です。映画が好き 㐀 豈 𠀀𪚥",  # CJK, of several blocks
    "한국 영화 ไทย हिन्दी मराठी தமிழ் العربية עִבְרִית",  # not CJK; combining marks
    "tab\there\nnew line\r\nreturn\x0bvertical\x0cform",
    "nul\x00 bell\x07 escape\x1b[31m delete\x7f next\x85line",  # control characters
    "zero\u200bwidth joi\u200dner soft\u00adhyphen bom\ufeff word\u2060joiner left\u200eright",
    "no\u00a0break thin\u2009space ideographic\u3000space line\u2028para\u2029end",
    "replacement \ufffd private \ue000 \U000f0000 not a character \ufffe",
    "😀 😂👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ❤️ ☃ ⁉️ film😀film",  # emoji, with joiners, flags, skins
    "x" * 100,  # the longest word that is split into pieces
    "x" * 101,  # one character more is unknown
    "supercalifragilisticexpialidocious" * 3,
    "a" * 99 + "é " + "é" * 101,
    "word " * 300,
    "[CLS] this [MASK] is [SEP] text [PAD] [UNK] [mask] [ MASK ] [UNUSED1]",
    "##ing ## # ###s film##s",
    "don't can`t ``quoted'' \"quoted\" -LRB- 3.5 -RRB- 1,000.00 $5 50% #1 @you a/b c\\d e_f",
    "¿Qué? ¡No! «guillemets» „low“ ‘single’ … – — ‐ ‑ § ¶ † ‡ • ° ± × ÷ ≤ ≥ ≠ ∞ √ ∑ € £ ¥ © ® ™",
    "ａｂｃ ＡＢＣ １２３ ！ ① Ⅳ ½ x² H₂O ℃ 𝒳 𝕬 ⅷ",  # other forms of the same letters
    "ALL CAPS mIxEd CaSe iPhone McDonald's O'Neil U.S.A. e.g. i.e.",
    "http://example.com/a?b=c&d=e#f someone@example.com C:\\path\\file.txt",
    "!!! ??? ... --- ,,, ;;; ((())) [[]] {{}} <<>> ^^ ~~ ++ == || &&",
    "",
    "   \t  ",
    "\u0301",  # an accent on nothing
    "\u200d\ufe0f",
    "Тест кириллица ЁЖ Їжак ԱՐԵՎ ქართული Ⴀ ᏣᎳᎩ",
)
