"""answer: answers questions from the documents alone, or refuses; owner of the audit log.

Read on in `servicers` (what it offers), `querying` (how a question becomes an answer) and `wiring`.
"""
