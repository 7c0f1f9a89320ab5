"""One file per table, figure or guided tour; what `grale reproduce` and `grale demo` run."""
