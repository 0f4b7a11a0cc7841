// Makes elements. Everything that comes from a server becomes text nodes here, never HTML.

/** An element with attributes (functions become listeners, true an empty attribute) and children. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

/** The element of the page with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** A button that looks like `look`: empty for the one that matters, `quiet` or `plain` for others. */
export function button(text, click, look = "plain", attributes = {}) {
  return element("button", { type: "button", class: look, click, ...attributes }, text);
}

/** `1 document`, `2 documents`. */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Asks before something is lost; true when the user says yes. */
export function confirmed(question, yes) {
  const dialog = element("dialog", { "aria-labelledby": "confirm-question" },
    element("form", { method: "dialog" },
      element("p", { id: "confirm-question" }, question),
      element("div", { class: "row end" },
        element("button", { value: "no", class: "quiet" }, "Cancel"),
        element("button", { value: "yes" }, yes))));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    dialog.remove();
    resolve(dialog.returnValue === "yes");
  }));
}

/** Gives the user a file to keep. */
export function saveFile(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
