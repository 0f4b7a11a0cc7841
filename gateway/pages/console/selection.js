// Which documents are asked: those that are ticked, or all of them.
import { button, byId, counted } from "./elements.js";

/** Most that a question may name. */
const MOST = 100;
const ticked = new Map();
const page = new EventTarget();

/** Whether a document is ticked. */
export function isTicked(id) {
  return ticked.has(id);
}

/** Ticks documents or takes the tick away; `documents` are pairs of id and title. */
export function tick(documents, on) {
  for (const [id, title] of documents) {
    if (on) ticked.set(id, title);
    else ticked.delete(id);
  }
  page.dispatchEvent(new Event("change"));
}

/** Calls `then` after every change. */
export function onSelection(then) {
  page.addEventListener("change", then);
}

/** The ids of the ticked documents; none means all. */
export function selected() {
  return [...ticked.keys()];
}

/** Says below the question what is asked. */
export function showScope() {
  const [first] = ticked.values();
  const titles = ticked.size === 1 ? `“${first}”` : counted(ticked.size, "document");
  byId("scope").replaceChildren(...(ticked.size
    ? [`Asks ${titles} `, button("Ask all", () => tick([...ticked], false))]
    : ["Asks all documents. Tick some under Documents to ask only those."]));
  if (ticked.size > MOST) byId("scope").append(` At most ${MOST} can be asked at once.`);
}
