"""Names of cities that something along the way could mangle."""

ODD_NAMES = [
    'quo"te',
    "back\\slash",
    'backslash and quote \\"',
    "backslash and n \\n",
    "ends with a backslash\\",
    '"',
    "\\",
    "नई दिल्ली",
    "😀 city",
    "👩‍👩‍👧‍👦",
    "القاهرة",
    "עִיר \u202eleft",
    "e\u0301",  # two spellings that Unicode considers the same
    "\u00e9",
    "line\u2028separator",
    "byte \ufefforder mark",
    "a{b}=c,d",
    "# EOF",
    "# HELP airquality_index no",
    "O'Hare & <co>",
    "NaN",
    "trimmed",  # sent with white space around it
    "x" * 128,
    "語" * 42 + "é",  # 128 bytes
]
#: As a feed may send them.
SENT_NAMES = [f"  {name}  " if name == "trimmed" else name for name in ODD_NAMES]
REJECTED_NAMES = ["new\nline", "tab\tstop", "next\u0085line", "x" * 129, " \r\n "]
