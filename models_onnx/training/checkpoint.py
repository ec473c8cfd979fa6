"""Networks on disk: weights, the shape that they are of, and whatever else training goes on from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from ...engine.atomic import atomically

Network = TypeVar("Network", bound=nn.Module)
Shape = TypeVar("Shape")


def save(path: Path, network: nn.Module, /, **more: Any) -> None:
    """Weights and `network.shape`, a dataclass, and `more`; whole or not at all."""
    shape: Any = network.shape
    with atomically(path) as part:
        torch.save({"shape": asdict(shape), "weights": network.state_dict(), **more}, part)


def load(path: Path, network: Callable[[Shape], Network], shape: Callable[..., Shape]) -> tuple[Network, dict[str, Any]]:
    """What `save` wrote of a `network` of such a `shape`: ready to run, and all that was saved."""
    saved: dict[str, Any] = torch.load(path, weights_only=True)
    loaded = network(shape(**{name: tuple(v) if isinstance(v, list) else v for name, v in saved["shape"].items()}))
    loaded.load_state_dict(saved["weights"])
    return loaded.eval(), saved
