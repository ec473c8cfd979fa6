"""What stops training and can be mended by whoever runs it."""

from __future__ import annotations


class TrainingError(ValueError):
    """Says in one line what is wrong and where, and what to do."""
