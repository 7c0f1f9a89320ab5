"""What a graph is predicted from: images and fingerprints (paper: "Graph prediction")."""
