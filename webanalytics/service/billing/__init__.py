"""What a call costs and who pays: plans, reserved credits, idempotency, notices."""
