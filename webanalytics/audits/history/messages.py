"""What is said of findings, and to whom; the outbox holds a message until it is taken."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from webanalytics import loops
from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError
from webanalytics.fetching.post import NotSentError, post_json, send_mail
from webanalytics.urls import is_web

NEEDED: Mapping[str, tuple[str, ...]] = {
    **{"stdout": (), "file": ("path",), "mail": ("server", "from", "to")},
    **dict.fromkeys(("webhook", "slack", "teams", "discord"), ("url",)),
}
"""Recipients, and what each needs."""
MORE, TLS = ("tls", "user", "password"), ("starttls", "tls", "none")
"""What a mail may have besides, and how it is sent."""
WAITS = (0.0, 0.5, 1.0)
"""Seconds before each try."""


def checked(to: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a recipient, its secrets read from the environment; raises `ParameterError`."""
    kind, made = str(to.get("kind")), dict(to)
    for name, value in to.items():
        texts = value if name == "to" and isinstance(value, list) else [value]
        if not all(isinstance(text, str) and text.isprintable() for text in texts):
            raise _wrong(f"have text in one line as its {name}")
    for name in (name for name in ("url", "user", "password") if name in to):
        value = to[name]
        made[name] = os.environ.get(value[1:], "").strip() if value.startswith("$") else value
        if not made[name]:
            raise ParameterError.on("to", f"names {value}, which the environment has not")
        if made[name] == value and (name == "password" or kind in ("slack", "teams", "discord")):
            raise _wrong(f'name a variable as its {name}: "$NAME"')
    if kind not in NEEDED or not all(made.get(name) for name in NEEDED[kind]):
        what = f"have {' and '.join(NEEDED[kind])}" if kind in NEEDED else f"have a kind: {', '.join(NEEDED)}"
        raise _wrong(what)
    known = {"kind", *NEEDED[kind], *(MORE if kind == "mail" else ())}
    if wrong := sorted(made.keys() - known):
        raise _wrong(f"not have {wrong[0]!r} where its kind is {kind}")
    if made.get("tls", "none") not in TLS or not is_web(made.get("url", "https://")):
        raise _wrong(f"have an address as its url, and as its tls one of {', '.join(TLS)}")
    if "path" in made:
        made["path"] = str(folder / made["path"])
    return made


def _wrong(what: str) -> ParameterError:
    return ParameterError.on("to", f"must {what}")


def message(title: str, date: str, told: list[Any], resolved: list[Any]) -> dict[str, Any]:
    """Return a message: a subject, a text, and the same as data."""
    counts = [f"{len(found)} {word}" for found, word in ((told, "new"), (resolved, "resolved")) if found]
    lines = []
    for group in (*told, *resolved):
        parts = ", ".join(f"{name} {count:,}" for name, count in group["templates"].items())
        several = f": {counted(group['count'], 'place')} ({parts})" if group["count"] > 1 else ""
        word = "New" if any(group is other for other in told) else "Resolved"
        lines += [f"{word}: {group['what']}{several}"]
        lines += [f"  {one['where']}: {one['said']}" for one in group["examples"]]
    known = {"id": uuid.uuid4().hex, "site": title, "date": date, "alerts": told, "resolved": resolved}
    return {**known, "subject": f"{title}: {', '.join(counts)}", "text": "\n".join(lines)}


def deliver(
    outbox: list[dict[str, Any]], recipients: Mapping[str, Any], keep: Callable[[], None], *, private: bool
) -> list[str]:
    """Hand over what the outbox holds, kept after each message; return why some could not be."""
    failed = dict[str, str]()
    for entry in list(outbox):
        name = entry["to"]
        if name in failed:  # what waits behind a message that was not taken comes after it
            continue
        if name not in recipients:
            failed[name] = f"a message is lost: {name} is no recipient any more"
            outbox[:] = [other for other in outbox if other["to"] != name]
            keep()
            continue
        for wait in WAITS:
            time.sleep(wait)
            try:
                _send(entry["message"], recipients[name], private)
            except (NotSentError, OSError, ValueError) as error:
                why = error if isinstance(error, NotSentError) else type(error).__name__
                failed[name] = f"a message waits for the next run: {name}: {why}"
            else:
                failed.pop(name, None)
                outbox.remove(entry)
                keep()
                break
    return list(failed.values())


def _send(content: Mapping[str, Any], to: Mapping[str, Any], private: bool) -> None:
    if to["kind"] == "stdout":
        print(f"{content['subject']}\n{content['text']}", flush=True)
    elif to["kind"] == "file":
        with Path(to["path"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False) + "\n")
    elif to["kind"] == "mail":
        mail = EmailMessage()
        mail["Subject"], mail["From"] = content["subject"], to["from"]
        mail["To"] = ", ".join(to["to"]) if isinstance(to["to"], list) else to["to"]
        mail["Message-ID"] = f"<{content['id']}@webanalytics>"
        mail.set_content(content["text"])
        login = (to["user"], to.get("password", "")) if "user" in to else None
        send_mail(mail, to["server"], to.get("tls", "starttls"), login, private=private)
    else:
        loops.run(post_json(to["url"], form(to["kind"], content), content["id"], private=private))


def form(kind: str, content: Mapping[str, Any]) -> Any:
    """Return what a webhook takes; words of pages are text there, and no markup."""
    text = f"{content['subject']}\n{content['text']}"
    if kind == "slack":
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return {"text": escaped, "mrkdwn": False}
    if kind == "discord":  # which takes 2,000 characters
        return {
            "content": f"```\n{text.replace('`', chr(39))[:1_900]}\n```",
            "allowed_mentions": {"parse": []},
        }
    if kind == "teams":
        block = {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text}]}
        card = {"type": "AdaptiveCard", "version": "1.4", "body": [block]}
        part = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
        return {"type": "message", "attachments": [part]}
    return dict(content)
