"""A local page to play on and a REST API: `grale play`, `grale serve` (docs/serving.md)."""
