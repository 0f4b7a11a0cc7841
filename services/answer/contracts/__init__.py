"""What models must return: one module per contract, `completion` is the one way to ask.

A contract module holds the class of the reply, the versioned prompt and the contract's own rules, so that
they change together.
"""
