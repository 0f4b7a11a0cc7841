"""What ids become in Weaviate, where texts are compared without case or by words."""

from __future__ import annotations

from uuid import NAMESPACE_OID, UUID, uuid5

ORDER_KEY = "order_key"
"""Name of the property that holds `order_key`."""


def key_of(name: str) -> UUID:
    """One for each name: compared whole, whatever characters the name has."""
    return uuid5(NAMESPACE_OID, name)


def order_key(name: str) -> str:
    """Sorts as the code points of the name do, and `greater_than` it is what follows.

    Weaviate has no sort that does so by itself: that of texts folds case, and the index of a text that is one
    token drops white space at its ends. Hexadecimal digits of UTF-8 have neither.
    """
    return name.encode().hex()
