"""What everything else stands on: how an operation is described, outcomes, options, and every sentence."""
