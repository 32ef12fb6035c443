function render({ model, el }) {
  const input = document.createElement("input");
  input.type = "password";
  input.autocomplete = "off";
  input.spellcheck = false;
  input.setAttribute("aria-label", model.get("label"));
  input.className = "webanalytics-secret";
  const send = () => model.send({ secret: input.value });
  const hint = () => {
    input.placeholder = model.get("is_set") ? "kept in the kernel; type to replace it" : "never saved";
  };
  const forget = message => {
    if (message.forget) input.value = "";
  };
  input.addEventListener("change", send);
  model.on("change:is_set", hint);
  model.on("msg:custom", forget);
  hint();
  el.appendChild(input);
  return () => {
    model.off("change:is_set", hint);
    model.off("msg:custom", forget);
  };
}
export default { render };
