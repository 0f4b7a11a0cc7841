"""The services that answer calls."""
