"""Measures quality on labelled questions, through the whole running product: `python -m evals`."""
