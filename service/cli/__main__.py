"""`python -m service.cli`, which is the command `fairdeal`."""

from service.cli import main

main()
