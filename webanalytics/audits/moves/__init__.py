"""Sites that move: which old address leads to which new one, files for servers, and a check."""
