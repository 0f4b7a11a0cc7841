"""Clients of models. Stateless: they turn text into vectors or text and remember nothing."""
