"""Tasks in Python: `task` (Task and TaskEnv), `names` (tasks by their names), `episodes` (resets, time limits, seeds),
`memory` (snapshots), `philox` (random numbers that depend on seed, episode and step alone)."""
