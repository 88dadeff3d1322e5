"""Gold spans: marks become groups, a model estimates their truth, and decoding gives one layer."""
