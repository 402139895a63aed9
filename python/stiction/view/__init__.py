"""Pictures: `scenery` (what is drawn), `rendering` (single pictures), `motion` (robots that move), `film`, and views that stay
open: `show`, which chooses between `browser` and `window`, with the choices in `panel`."""
