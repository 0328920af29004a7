"""What is found of a network of nodes and edges: parts that learn apart."""
