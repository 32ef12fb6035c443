"""The hosted API as a service: every operation over HTTP, with accounts, credits and limits.

It needs the extra ``service``. Started by ``webanalytics serve``.
"""
