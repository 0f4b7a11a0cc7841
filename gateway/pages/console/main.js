// The page: which view is shown, and what starts.
import { startAsking } from "./asking.js";
import { load, startDocuments } from "./documents.js";
import { byId } from "./elements.js";
import { closeEvidence } from "./evidence.js";
import { forgetKey, showKeyState } from "./key.js";
import { startTable } from "./table.js";

const VIEWS = { ask: "Ask", documents: "Documents", table: "Table" };

function showView() {
  const wanted = location.hash.slice(1);
  const view = wanted in VIEWS ? wanted : "ask";
  for (const name of Object.keys(VIEWS)) byId(name).hidden = name !== view;
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = view === "ask" ? "Clausegate" : `${VIEWS[view]} – Clausegate`;
  closeEvidence();
  if (view === "documents") load();
}

byId("forget-key").addEventListener("click", forgetKey);
window.addEventListener("hashchange", showView);
startDocuments();
startTable();
showKeyState();
showView();
startAsking();
