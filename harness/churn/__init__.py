"""What an edit costs an index: replays commits and counts the chunks that change."""
