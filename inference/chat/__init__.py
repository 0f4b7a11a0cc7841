"""Chat models behind any OpenAI-compatible endpoint: `model` says what one is asked, `client` asks it,
`replay` records what it says and says it again."""
