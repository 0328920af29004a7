"""The network: nodes, edges and the gated paths between them; knows no text and no dataset."""
