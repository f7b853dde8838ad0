"""Lines, letters, ghosts and colors that explain a picture: chosen, planned as numbers, then drawn."""
