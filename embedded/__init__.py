"""Every service and the gateway in one process, for one machine: `python -m embedded`.

They call each other over the same socket as everybody else; nothing in them knows that they share a process.
"""
