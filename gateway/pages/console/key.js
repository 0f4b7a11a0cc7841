// The credential: asked for once, held by this tab alone.
import { byId } from "./elements.js";

const NAME = "clausegate.key";
const USUAL = "It is kept until this tab is closed, and sent to nobody else.";
let waiting = null;

/** The key that the user gave; empty without one. */
export function key() {
  return sessionStorage.getItem(NAME) || "";
}

/** Forgets the key and all that was kept with it. */
export function forgetKey() {
  sessionStorage.clear();
  location.replace("/");
}

/** Asks for a key. Resolves when there is one, rejects when the user would rather not. Asks once at a time. */
export function askForKey() {
  waiting ||= new Promise(open).finally(() => { waiting = null; });
  return waiting;
}

function open(resolve, reject) {
  const dialog = byId("key-dialog");
  const field = byId("key");
  byId("key-message").textContent = key() ? "The server did not take this key. Is it complete, and still valid?" : USUAL;
  field.value = "";
  dialog.querySelector("[value=cancel]").onclick = () => dialog.close();
  dialog.querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(NAME, field.value.trim());
    dialog.close();
  };
  const before = key();
  dialog.onclose = () => {
    showKeyState();
    if (key() && key() !== before) resolve();
    else reject(new Error("This server asks for a key."));
  };
  dialog.showModal();
}

/** Shows the button that forgets the key where there is one. */
export function showKeyState() {
  byId("forget-key").hidden = !key();
}
