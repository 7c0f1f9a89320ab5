"""The command line: parse, build, call, print; one file per verb."""
