"""Training on the CPU with NumPy alone, playing policies, and what `stiction train | play` do."""
