// Questions asked of each document by itself: a table that fills as the answers come, and can be saved as CSV.
import { button, byId, counted, element, saveFile } from "./elements.js";
import { showEvidence } from "./evidence.js";
import { flowing } from "./quotes.js";
import { onSelection, selected } from "./selection.js";
import { Broken, post } from "./server.js";
import { place } from "./words.js";

/** With these a cell is a formula to programs for tables. */
const FORMULA = /^\s*[=+\-@]/;
const SAID = { OUTCOME_RELATED: "unclear", OUTCOME_REFUSED: "silent" };
const questions = element("textarea", { id: "questions", rows: "4", required: true, placeholder: "Which law governs the agreement?\nOn what notice may it be terminated?" });
const scope = element("p", { class: "scope" });
const state = element("p", { class: "progress", role: "status" });
/** Changes with each answer, which nobody wants to be told aloud. */
const counter = element("p", { class: "aside" });
const failure = element("p", { class: "failure", role: "alert", hidden: true });
const result = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Answers, document by document" });
const stop = button("Stop", () => running?.abort(), "quiet", { hidden: true });
const save = button("Save as CSV", () => saveFile("answers.csv", csv(), "text/csv;charset=utf-8"), "plain", { hidden: true });
let running = null;
let asked = { queries: [], documents: [], cells: new Map() };

/** Builds the view. */
export function startTable() {
  byId("table").append(element("form", { class: "asking", submit: (event) => {
    event.preventDefault();
    ask(questions.value.split("\n").map((line) => line.trim()).filter(Boolean));
  } },
  element("label", { for: "questions" }, "Questions, one a line"), questions,
  element("div", { class: "row" }, scope, stop, element("button", { type: "submit" }, "Ask each document"))),
  state, counter, failure, save, result);
  onSelection(showScope);
  showScope();
}

function showScope() {
  const count = selected().length;
  scope.textContent = count ? `Asks each of ${counted(count, "document")}.` : "Asks each document. Tick some under Documents to ask only those.";
}

async function ask(queries) {
  running?.abort();
  const own = running = new AbortController();
  asked = { queries, documents: [], cells: new Map() };
  result.replaceChildren();
  [failure.hidden, save.hidden, stop.hidden] = [true, true, false];
  state.textContent = "Asking …";
  let last = null;
  try {
    for await (const [name, data] of post("/v1/query:each", { queries, documentIds: selected() }, own.signal)) {
      if (name === "begun") begin(data.documents);
      if (name === "cell") fill(data);
      if (name === "completed") last = data;
    }
    if (!last) throw new Broken();
    state.textContent = `${last.answered} answered, ${last.related} unclear, ${last.refused} silent, ${last.failed} failed.`;
  } catch (error) {
    if (own === running) failed(error);
  } finally {
    counter.textContent = "";
    if (own === running) [stop.hidden, save.hidden] = [true, !asked.documents.length];
  }
}

function failed(error) {
  state.textContent = `Stopped after ${counted(asked.cells.size, "answer")}.`;
  failure.hidden = error.name === "AbortError";
  failure.textContent = error.message;
}

function begin(documents) {
  asked.documents = documents;
  const columns = asked.queries.map((query) => element("th", { scope: "col" }, query));
  result.replaceChildren(element("table", { class: "each-document" },
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "Document"), columns)),
    element("tbody", {}, documents.map(({ label }) => element("tr", {},
      element("th", { scope: "row", class: "words" }, label), columns.map(() => element("td", { class: "aside" }, "…")))))));
}

function fill(cell) {
  asked.cells.set(`${cell.documentId}\n${cell.query}`, cell);
  const row = asked.documents.findIndex(({ documentId }) => documentId === cell.documentId);
  const shown = result.querySelector("tbody").rows[row].cells[cell.query + 1];
  shown.className = cell.errorReason ? "failed" : "";
  shown.replaceChildren(...content(cell));
  counter.textContent = `${asked.cells.size} of ${asked.documents.length * asked.queries.length} …`;
}

function content(cell) {
  if (cell.errorReason) return [`failed: ${cell.errorMessage}`];
  const said = SAID[cell.outcome] ? [element("span", { class: "aside" }, SAID[cell.outcome])] : [];
  if (!cell.statement) return said;
  const [citation] = cell.citations;
  return [...said, element("span", { class: "words clipped" }, flowing(cell.statement.text)),
    button(place(citation) || "Show", () => showEvidence(cell.citations, citation.number), "plain", { "aria-label": `Show where it stands: ${place(citation)}` })];
}

/** The table as RFC 4180 has it, for programs that take UTF-8 by its mark. */
function csv() {
  const rows = asked.documents.map(({ documentId, label }) => [documentId, label, ...asked.queries.map((_, query) =>
    written(asked.cells.get(`${documentId}\n${query}`)))]);
  return "\ufeff" + [["document", "title", ...asked.queries], ...rows]
    .map((row) => row.map((text) => `"${inert(text).replaceAll('"', '""')}"`).join(",")).join("\r\n") + "\r\n";
}

function written(cell) {
  if (!cell) return "";
  if (cell.errorReason) return `failed: ${cell.errorMessage}`;
  const quote = cell.statement ? flowing(cell.statement.text) : "";
  return [SAID[cell.outcome], quote && `${quote} (${place(cell.citations[0]) || cell.documentId})`].filter(Boolean).join(": ");
}

function inert(text) {
  return FORMULA.test(text) ? `'${text}` : text;
}
