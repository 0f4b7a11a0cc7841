// The documents: found by their cards, ticked for a question, taken in, given back, removed.
import { button, byId, confirmed, counted, element, saveFile } from "./elements.js";
import { isTicked, onSelection, selected, tick } from "./selection.js";
import { documentPath, get, send } from "./server.js";
import { uploads } from "./uploads.js";
import { card } from "./words.js";

const PAGE_SIZE = 1000;
let all = [];
const list = element("ul", { class: "documents" });
const count = element("p", { class: "aside", role: "status" });
const failure = element("p", { class: "failure", role: "alert", hidden: true });
const search = element("input", { type: "search", id: "document-search", placeholder: "Title, party, date or file", input: show });
const every = button("Tick all of these", tickShown);

/** Builds the view. */
export function startDocuments() {
  byId("documents").append(
    element("h2", {}, "Documents"), uploads(load),
    element("label", { for: "document-search" }, "Find a document"), search,
    element("div", { class: "row" }, count, every), failure, list);
  onSelection(show);
}

/** Fetches the list anew. */
export async function load() {
  failure.hidden = true;
  try {
    all = await fetched();
  } catch (error) {
    failed(error);
  }
  show();
}

async function fetched() {
  const documents = [];
  for (let token = ""; ;) {
    const page = await get("/v1/documents", { pageSize: PAGE_SIZE, ...(token && { pageToken: token }) });
    documents.push(...page.documents);
    token = page.nextPageToken;
    if (!token) return documents;
  }
}

function failed(error) {
  failure.textContent = error.message;
  failure.hidden = false;
}

/** The documents that hold every word of the search. */
function found() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((document) => {
    const { title, facts } = card(document);
    const text = `${title} ${facts} ${document.documentId}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function show() {
  const shown = found();
  const focused = document.activeElement?.id;
  const ticked = selected().length;
  count.textContent = `${counted(shown.length, "document")}${ticked ? `, ${ticked.toLocaleString("en")} ticked` : ""}`;
  every.hidden = !shown.length;
  every.textContent = shown.every(({ documentId }) => isTicked(documentId)) ? "Take the ticks away" : "Tick all of these";
  list.replaceChildren(...shown.map(row));
  if (focused) byId(focused)?.focus();
}

function tickShown() {
  const shown = found();
  tick(shown.map((each) => [each.documentId, card(each).title]), !shown.every(({ documentId }) => isTicked(documentId)));
}

function row(item) {
  const id = item.documentId;
  const { title, facts, warnings } = card(item);
  const box = element("input", {
    type: "checkbox", id: `tick-${id}`, checked: isTicked(id), change: () => tick([[id, title]], box.checked),
  });
  return element("li", {}, box,
    element("div", {},
      element("label", { for: box.id, class: "words title" }, title),
      element("p", { class: "aside words" }, facts),
      element("p", { class: "aside" }, [id, counted(item.pageCount, "page")].slice(0, item.pageCount ? 2 : 1).join(" · ")),
      warnings && element("p", { class: "warning" }, warnings)),
    element("div", { class: "acts" },
      button("Save", () => download(item), "plain", { "aria-label": `Save the original of ${title}` }),
      button("Delete", () => remove(item), "plain", { "aria-label": `Delete ${title}` })));
}

async function download(item) {
  failure.hidden = true;
  try {
    const response = await send(`${documentPath(item.documentId)}:original?download=true`);
    saveFile(item.path.split("/").at(-1), await response.blob());
  } catch (error) {
    failed(error);
  }
}

async function remove(item) {
  const question = `Delete “${card(item).title}” (${item.documentId})? Its original is deleted as well. This cannot be undone.`;
  if (!(await confirmed(question, "Delete"))) return;
  try {
    await send(documentPath(item.documentId), { method: "DELETE" });
    tick([[item.documentId]], false);
  } catch (error) {
    failed(error);
    return;
  }
  await load();
  search.focus();
}
