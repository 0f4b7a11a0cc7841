"""Answers questions: search, grade, gate, definitions, budget, statements, verification, words for people."""
