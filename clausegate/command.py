"""The `clausegate` command of an installed package, which holds the services and the command line as well.

They lie in `product`, a folder that nothing imports unless it is put on the path, as here: a package that is
installed for its client takes no names like `services` from others. In a clone they lie beside this package.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

PRODUCT = Path(__file__).with_name("product")


def main() -> None:
    """Run the command; without what its extra installs, say so."""
    if PRODUCT.is_dir():
        sys.path.insert(0, str(PRODUCT))
    try:
        command = import_module("cli.main")
    except ModuleNotFoundError as error:
        sys.exit(f"error: the command takes more than the client ({error.name}): install clausegate[cli]")
    command.main()
