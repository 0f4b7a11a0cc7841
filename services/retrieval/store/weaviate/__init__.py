"""The production store: the indexes of all tenants in a Weaviate server or cluster.

Read on in `schema` (what is kept where), `writing` (how a version becomes visible) and `searching`.
"""
