"""The operator's settings: each setting, where its value comes from, and its checks."""
