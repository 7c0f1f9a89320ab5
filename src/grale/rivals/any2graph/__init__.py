"""Any2Graph: graphs from anything with an optimal-transport loss (Krzakala et al. 2024)."""
