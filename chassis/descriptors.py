"""How many files and connections a process may have open."""

from __future__ import annotations

import logging
import resource

logger = logging.getLogger(__name__)

MOST = 65_536
"""More are never needed, and some systems allow 2**30, for which programs make tables."""
BESIDES = 512
"""What a process opens beside its callers' connections: stores, uploads, parsers, channels."""


def allow_descriptors(connections: int) -> None:
    """Let this process open as many files as the system lets it, and warn when `connections` need more.

    What a shell or a container begins with is often 1,024: strangers who only connect would use them up, and
    then no file of keys could be read again, no upload be stored and nobody be let in.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = max(soft, min(hard, MOST))
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < connections + BESIDES:
        logger.warning("few open files are allowed", extra={"allowed": allowed, "connections": connections})
