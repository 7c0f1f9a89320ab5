"""Typed settings: frozen dataclasses filled from YAML files and command-line overrides."""
