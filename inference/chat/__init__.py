"""Chat models behind any OpenAI-compatible endpoint: what is asked of one is in `model`."""
