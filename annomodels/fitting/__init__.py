"""A fit: made, saved, loaded, compared. Imports models, engines and summaries, no page, no plot."""
