"""`python -m grale.cli`: the same as `grale`."""

from grale.cli.main import main

main()
