"""Characters that nobody sees: the one table of them, as what a pattern holds between square brackets."""

from __future__ import annotations

IGNORABLE = (
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point of Unicode 16 (DerivedCoreProperties.txt) without soft hyphen and joiners;
with the anchors of interlinear annotations, which are not drawn either."""
JOINERS = "\u200c\u200d"
"""Spelling in Arabic and in scripts of India; elsewhere nothing."""
SOFT_HYPHEN = "\u00ad"
WITHOUT_WIDTH = "\u200b\u2060\ufeff"
"""White space without a width."""
