"""Accounts for every call: audit and debug records, usage and cost, recordings."""
