"""What counts of the passages that a search finds, and whether they are enough."""
