"""Worker processes: a pool with deadlines and memory limits, and what runs inside of one."""
