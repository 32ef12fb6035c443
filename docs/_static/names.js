// Names for what the theme leaves without one, for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".has-children > details > summary")) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this one"}`);
  }
  for (const button of document.querySelectorAll(".search-button-field[aria-label]")) button.removeAttribute("aria-label");
});
