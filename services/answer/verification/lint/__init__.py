"""Claim lint, without a model (N-3): what a statement says beyond its quotes.

Read `checking` first. `tokens` cuts text, `quantities` and `dates` find numbers, amounts, dates and clause
numbers, `polarity` negations and modals, and `wording` names, links and words.
"""

from services.answer.verification.lint.checking import lint
from services.answer.verification.lint.findings import Finding, LintRule

__all__ = ["Finding", "LintRule", "lint"]
