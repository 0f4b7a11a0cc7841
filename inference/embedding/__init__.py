"""Embedding models: `model` says what one does, `local` is one that runs here, `openai` is any of a
compatible server.

No model keeps anything of what it embeds.
"""
