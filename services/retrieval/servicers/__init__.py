"""What the retrieval service offers: one thin servicer per proto service."""
