"""What the answer service offers: one thin servicer per proto service."""
