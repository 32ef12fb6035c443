"""What a user calls: each function once, asynchronous; `api.sync` holds their blocking twins."""
