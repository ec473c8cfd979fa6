"""How well sensitive words are found and hidden, and what it costs."""
