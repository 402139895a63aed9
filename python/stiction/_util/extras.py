"""What to type where a library that is not part of the package is missing."""

from pathlib import Path

# extra of the package -> what installs it in a checkout: ./dev setup does with all but these
_IN_A_CHECKOUT = {
    "train": "./dev setup --train",
    "torchrl": "./dev setup --train",
    "dm-env": "./dev setup --train",
    "jax": "./dev setup --train",
    "rl-games": "./dev setup --train",
    "record": "./dev setup --train",
    "ray": "./dev setup --train",
    "view": ".venv/bin/pip install viser",
    "log": ".venv/bin/pip install wandb",
}


PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parents[1]  # the clone of the project that holds the package, if one does


def in_a_checkout() -> bool:
    """Whether this package lies in a clone of the project, set up by ./dev."""
    return (CHECKOUT / "dev").is_file() and (CHECKOUT / "CMakeLists.txt").is_file()


def remedy(extra: str) -> str:
    """The command that installs the libraries of an extra."""
    if in_a_checkout():
        return _IN_A_CHECKOUT.get(extra, "./dev setup")
    return f"pip install 'stiction[{extra}]'"
