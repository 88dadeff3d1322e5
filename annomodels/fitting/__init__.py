"""Create, save, load and compare fits. Imports models, engines, summaries, plots; no page."""
