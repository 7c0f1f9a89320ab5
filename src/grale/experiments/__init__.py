"""One file per table, figure or guided tour; what `grale demo` and `grale bench` run."""
