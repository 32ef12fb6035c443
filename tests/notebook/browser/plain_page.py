"""An explorer in a plain page: the widget's own script and a model whose kernel is this process.

What JupyterLab adds is left out, and answers can be held back until the reader has done something.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from webanalytics.notebook.explorer.explorer import Explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>
<style>{style}</style><body data-jp-theme-light="{light}" style="background:{ground};{theme}"><main id="here"></main></body></html>"""
DARK = (
    "--jp-layout-color0:#111111;--jp-ui-font-color1:#ffffffde;--jp-ui-font-color2:#ffffffb3;"
    "--jp-border-color2:#616161;--jp-content-link-color:#64b5f6;--jp-brand-color1:#2196f3"
)
MODEL = """async ({ script, state }) => {
    const listeners = {};
    const values = state;
    window.model = {
        get: name => values[name], set: (name, value) => { values[name] = value; }, save_changes: () => {},
        on: (name, call) => { (listeners[name] ??= []).push(call); }, off: () => {},
        send: content => { window.ask(JSON.stringify(content)); },
    };
    window.tell = content => { for (const call of listeners["msg:custom"] ?? []) call(content, []); };
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const { default: widget } = await import(address);
    widget.render({ model: window.model, el: document.getElementById("here") });
}"""


class PlainPage:
    """An explorer and its page; ``held`` are answers that wait, while ``holding``, until `release`."""

    def __init__(
        self, browser: Browser, explorer: Explorer, *, dark: bool = False, width: int = 1300
    ) -> None:
        self.explorer, self.holding, self.held = explorer, False, list[str]()
        context = browser.new_context(viewport={"width": width, "height": 900})
        self.page: Page = context.new_page()
        explorer.send = self._answer  # type: ignore[method-assign]
        self.page.expose_function("ask", self._ask)
        theme, ground = (DARK, "#111111") if dark else ("", "#ffffff")
        made = PAGE.format(style=Explorer._css, light=str(not dark).lower(), theme=theme, ground=ground)
        self.page.set_content(made)

    def draw(self) -> Page:
        """Draw the widget, and return its page."""
        state = {"_content": self.explorer._content, "selected": self.explorer.selected}
        self.page.evaluate(MODEL, {"script": Explorer._esm, "state": json.loads(json.dumps(state))})
        return self.page

    def release(self) -> None:
        """Give the answers that were held back."""
        self.holding = False
        waiting, self.held = self.held, []
        for answer in waiting:
            self.page.evaluate("answer => window.tell(JSON.parse(answer))", answer)

    def _ask(self, asked: str) -> None:
        self._answers: list[str] = []
        self.explorer._on_message(None, json.loads(asked), [])
        if self.holding:
            self.held += self._answers
            return
        for answer in self._answers:
            self.page.evaluate("answer => { setTimeout(() => window.tell(JSON.parse(answer))); }", answer)

    def _answer(self, content: Any, buffers: Any = None) -> None:
        self._answers.append(json.dumps(content))
