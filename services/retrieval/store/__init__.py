"""Where chunks and their vectors are kept: `port` says what retrieval asks of a store."""
