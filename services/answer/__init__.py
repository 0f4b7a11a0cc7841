"""The answer service: answers questions from the documents alone, or refuses, and owns the audit log.

Read on in `servicers` (what it offers), `query.querying` (how a question becomes an answer) and `wiring`. Its
tasks (`query`, `research`, `articles`, `checking`, `rewriting`, `query_generation`) do not know one another;
below them lie `evidence`, `records` and `verification`, in this order.
"""
