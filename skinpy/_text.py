"""Text from files, made safe to print."""


def printable(text: str) -> str:
    """`text` without bytes that are not UTF-8, and without what would end or color a line."""
    whole = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in whole)
