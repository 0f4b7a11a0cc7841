"""Names in questions: which documents they name, and which of them no document bears."""
