"""The page of `chunkmark report`: one HTML file without a network."""
