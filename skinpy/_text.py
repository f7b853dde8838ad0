"""Text from outside, made safe to store and to print: what files say, and what callers pass."""

from collections.abc import Sequence

#: Control characters but tabs and line ends, and marks that change the direction of writing.
_NOT_IN_HTML = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_POINTER = b"version https://git-lfs.github.com/spec/"
POINTER_REMEDY = "it is a Git LFS pointer; run git lfs pull"
MAX_QUOTE = 100  #: characters that a message quotes of a file
_MAX_LISTED = 8  # names that a message lists


def unicode_text(text: str) -> str:
    """`text` with U+FFFD in place of lone surrogates, to store it as UTF-8.

    Names from files, and paths, keep bytes that are not UTF-8 as lone surrogates, which neither JSON, HTML
    nor a font can take.
    """
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def printable(text: object) -> str:
    r"""What `text` says as one line that no terminal obeys.

    Control characters, line ends, marks that change the direction of writing and bytes that are not UTF-8 are
    written as Python writes them in a string, such as "\x1b".
    """
    words = str(text)
    return words if words.isprintable() else "".join(map(_printed, words))


def printable_lines(text: object) -> str:
    """What `text` says, with its lines, each as `printable` writes it."""
    return "\n".join(map(printable, str(text).split("\n")))


def html_text(text: str) -> str:
    """`text` as HTML text that UTF-8 can hold, without markup, control characters and marks of direction."""
    import html  # only pages need it
    import re

    return html.escape(re.sub(_NOT_IN_HTML, lambda found: _printed(found[0]), unicode_text(text)))


def quoted(text: object) -> str:
    """`repr(text)`, of which a long one is cut."""
    return cut(repr(text))


def cut(text: str) -> str:
    """`text`, of which a long one is cut, but for its last letter, which may be a quote."""
    return text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 4]}...{text[-1]}"


def quoted_list(texts: Sequence[str], between: str = ", ") -> str:
    """The first of the texts, each `quoted`, as many as a message may quote, and how many more there are."""
    shown: list[str] = []
    length = 0
    for one in map(quoted, texts[:_MAX_LISTED]):
        length += len(one)
        if shown and length > MAX_QUOTE:
            break
        shown.append(one)
    left = len(texts) - len(shown)
    return between.join(shown) + (f" and {left} more" if left else "")


def is_pointer(data: str | bytes) -> bool:
    """Whether this begins as the small text that Git LFS puts in the place of a large file."""
    head = data[: len(_POINTER)]
    return (head.encode("utf-8", "replace") if isinstance(head, str) else head) == _POINTER


def _printed(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
