"""The sentences that a service alone says; `messages.table` has those of all, and joins them."""

from __future__ import annotations

from typing import Final

from webanalytics.core.messages.kinds import Table, table

SERVICE: Final[Table] = table(
    {
        # The key of the account: the first four are the specification's own words.
        "unauthorized": (None, "unauthorized"),
        "key_revoked": (None, "API key has been revoked."),
        "address_blocked": (None, "IP address not allowed for this API key"),
        "operation_blocked": (None, "Access to `{api}` is blocked for this API key"),
        "no_credits": (
            "credits",
            "The `x-api-key` header must name an account with credits: the call costs {price}, {left} are "
            "left, and the next billing cycle begins on {date}.",
        ),
        "credits_held": (
            "service",
            "The `x-api-key` header names an account whose last {held} credits are held by calls under way; "
            "repeat the request later.",
        ),
        "rate_limited": (
            "service",
            "The `x-api-key` header must name a plan without throttling to send more than {limit} requests "
            "a minute; repeat the request in {seconds} seconds.",
        ),
        # The request.
        "no_path": (
            None,
            "The path of the request must be one of those that /v1/openapi.json lists, with its method.",
        ),
        "no_image": (None, "The path of the request must name a converted image that has not expired."),
        "idempotency_key": (
            "invalid",
            "The `Idempotency-Key` header must be 1 to 255 visible ASCII characters.",
        ),
        "call_running": (
            None,
            "The `Idempotency-Key` header names a call that is still being worked on; repeat it later.",
        ),
        "key_reused": (
            None,
            "The `Idempotency-Key` header must be a new one: it was used with other parameters.",
        ),
        "body_object": ("invalid", "The request body must be a JSON object."),
        "body_parts": ("invalid", "The request body must be a JSON object of at most {limit:,} parts."),
        "body_large": ("too_large", "The request body must be at most {limit:,} bytes."),
        "body_broken": ("invalid", "The request body must be complete and well-formed HTTP."),
        "body_slow": ("invalid", "The request body must arrive within {seconds:g} seconds."),
        "body_encoding": (
            "invalid",
            "The request body must be encoded as its `Content-Encoding` header says.",
        ),
        "encoding_unknown": (
            "invalid",
            "The `Content-Encoding` header must be gzip or deflate, or left out.",
        ),
        "form_encoded": ("invalid", "The `Content-Encoding` header must be left out of a form."),
        "form_broken": ("invalid", "The request body must be well-formed multipart/form-data."),
        "form_parts": ("invalid", "The request body must be a form of at most {limit} parts."),
        "batch_size": ("invalid", "must be a list of 1 to {limit} objects."),
        "batch_objects": ("invalid", "must be a list of objects."),
        "upload_form": ("invalid", "must be base64, a data: URL or an http(s) URL of {what}."),
        "upload_large": ("too_large", "must be at most {limit:,} bytes."),
        # The answer.
        "answer_full": (
            "service",
            "must be sent in another request: this answer has reached {limit:,} bytes.",
        ),
        "answer_not_kept": (
            "invalid",
            "The `Idempotency-Key` header must be left out: the answer has more than {limit:,} bytes.",
        ),
        "answer_large": ("too_large", "names a page whose answer has more than {limit:,} bytes."),
        "answers_full": ("service", "The service holds as many answers as it can; repeat the request later."),
        # The service itself.
        "bodies_full": (
            "service",
            "The service holds as many request bodies as it can; repeat the request later.",
        ),
        "site_busy": (
            "timeout",
            "names a site that takes fewer requests than it is sent; repeat the request later.",
            "The site takes fewer requests than it is sent.",
        ),
        "busy": (
            "service",
            "The service has as many requests under way as it takes; repeat the request later.",
        ),
        "no_worker": (
            "service",
            "The service has no worker process at the moment; repeat the request later.",
        ),
        "accounts_away": ("service", "The service cannot reach its accounts; repeat the request later."),
        "images_away": (
            "service",
            "The service cannot reach its store of converted images; repeat the request later.",
        ),
        "service_failed": (
            "service",
            "The service failed; repeat the request later with the same parameters.",
        ),
        "call_failed": (
            "parse",
            "The service failed to work on the `{parameter}` parameter.",
            "The service failed on this row.",
        ),
        "call_analysis_failed": (
            "parse",
            "The service failed to analyse what the `{parameter}` parameter names.",
            "The service failed to analyse the {page}.",
        ),
    },
    names="names",
)
"""Errors of a service alone: about the key, the request, the answer, and itself."""
