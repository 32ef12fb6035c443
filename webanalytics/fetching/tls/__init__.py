"""What servers show of themselves when a secure connection begins: names looked up, greetings, certificates."""
