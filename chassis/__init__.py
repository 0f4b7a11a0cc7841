"""The plumbing every process shares: settings, telemetry, errors, servers and channels.

Nothing here knows documents.
"""
