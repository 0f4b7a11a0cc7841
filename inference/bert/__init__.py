"""BERT encoders that run in this process: `weights` reads files, `graph` builds, `session` runs.

What stands on top of an encoder is the business of `inference.embedding` and `inference.reading`.
"""
