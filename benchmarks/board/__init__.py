"""The board of chunkers, made by `python -m benchmarks.board`: docs/board.md and its picture."""
