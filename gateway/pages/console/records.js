// What was asked before. Kept in this browser; where a key is used, only as long as the key.
import { button, byId, element } from "./elements.js";
import { key } from "./key.js";
import { OUTCOMES } from "./words.js";

const NAME = "clausegate.history";
const MOST = 30;

/** What somebody asked with a key is not for the next person at this machine. */
function store() {
  return key() ? sessionStorage : localStorage;
}

function kept() {
  try {
    return JSON.parse(store().getItem(NAME)) || [];
  } catch {
    return [];
  }
}

/** Keeps an answer, the newest first. When there is no room, the oldest go. */
export function keep(question, response) {
  const { debug, markdown, markdownFull, supportingClauses, ...rest } = response;
  const records = [{ question, response: rest }, ...kept().filter((record) => record.question !== question)];
  for (let most = MOST; most > 0; most = Math.floor(most / 2)) {
    try {
      return store().setItem(NAME, JSON.stringify(records.slice(0, most)));
    } catch { /* The browser has no room for as many. */ }
  }
}

/** Shows the list; `open` is called with the record that is chosen. */
export function showRecords(open) {
  const records = kept();
  const view = byId("history");
  view.hidden = !records.length;
  view.querySelector("ul").replaceChildren(...records.map((record) => element("li", {},
    button(record.question, () => open(record)),
    element("span", { class: "aside" }, ` ${OUTCOMES[record.response.outcome].title.toLowerCase()}`))));
  byId("clear-history").onclick = () => {
    store().removeItem(NAME);
    showRecords(open);
    byId("question").focus();
  };
}
