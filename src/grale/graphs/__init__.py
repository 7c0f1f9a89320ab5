"""What a graph is: one labelled graph, a padded batch of them, and conversions."""
