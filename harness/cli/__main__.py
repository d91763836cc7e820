"""`python -m harness.cli`: the program without its installed script."""

from harness.cli.main import main

main()
