"""The store for one machine: SQLite holds the truth, and two indexes derived from it make it fast.

`store` is the port's implementation, `stores` owns one for each tenant. It reads by `lookups` (of the
database alone) and `searching` (of all three, at the moment that a `view` holds), and writes by `writing`,
which keeps `derived`, the two indexes, in step. Below: `database` (connections and schema), `rows` (values as
rows), `keywords` (a tantivy index of stems), `codes` (one bit for each component, in memory).
"""
