"""`python -m cli` is the `clausegate` command."""

from cli.main import main

main()
