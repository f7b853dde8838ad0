"""Text from files, made safe to store and to print."""


def unicode_text(text: str) -> str:
    """`text` with U+FFFD in place of bytes that were not UTF-8.

    Names from files keep such bytes as lone surrogates, which neither JSON, HTML nor a font can take.
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def escaped(text: str) -> str:
    """`text` as one line for a terminal, with escapes such as "\\x1b" in place of control characters."""
    shown = unicode_text(text)
    return shown if shown.isprintable() else "".join(map(_escape, shown))


def _escape(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")


def printable(text: str) -> str:
    """`text` as one line for a terminal: without invalid bytes, line ends and control characters."""
    shown = unicode_text(text)
    if shown.isprintable():
        return shown
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in shown)
