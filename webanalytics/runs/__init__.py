"""One call from its inputs to its frame: progress, interrupts, checkpoints, estimates."""
