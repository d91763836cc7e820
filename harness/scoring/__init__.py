"""Other people's rankings and judgements: readers of their files, and what is relevant in them."""
