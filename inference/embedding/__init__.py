"""Embedding models: `model` says what one does, `local` is one that runs here, `fetch` brings its weights.

No model keeps anything of what it embeds.
"""
