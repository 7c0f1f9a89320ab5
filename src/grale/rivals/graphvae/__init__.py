"""GraphVAE of Simonovsky and Komodakis (2018)."""
