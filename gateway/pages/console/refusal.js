// A refusal: what was looked at, so that a reader can judge the silence.
import { button, counted, element } from "./elements.js";
import { showEvidence } from "./evidence.js";
import { flowing } from "./quotes.js";
import { RULES, label, place } from "./words.js";

/** What a refusal says besides its message. */
export function refusal(refused) {
  return element("div", { class: "refusal" },
    refused.missing && element("p", {}, refused.missing),
    refused.gate && element("p", { class: "aside" }, RULES[refused.gate.rule]),
    refused.nearestNames?.length ? element("p", {}, `Names that are spelled alike: ${refused.nearestNames.join("; ")}.`) : null,
    nearest(refused.nearestClauses || []),
    refused.absence && searched(refused.absence));
}

function nearest(clauses) {
  if (!clauses.length) return null;
  const cited = clauses.map(asCitation);
  return element("section", {}, element("h3", {}, "The nearest clauses, which are no answer"),
    element("ol", { class: "statements" }, clauses.map((clause, index) => element("li", { class: "weak" },
      element("blockquote", { class: "words clipped" }, flowing(clause.text)),
      element("p", { class: "place" }, element("span", { class: "words" }, label(clause)), place(clause) && ` · ${place(clause)}`, " ",
        button("Show in the document", () => showEvidence(cited, index + 1)))))));
}

/** A clause in the form that the evidence shows. */
function asCitation(clause, index) {
  return { ...clause, number: index + 1, quote: clause.text, parts: [{ span: clause.span, text: clause.text }], boxes: [] };
}

function searched(absence) {
  const pages = absence.pagesSearched ? ` with ${counted(absence.pagesSearched, "page")}` : "";
  const unread = absence.unreadablePages
    ? element("p", {}, `${counted(absence.unreadablePages, "page")} could not be read; an answer there could not be found.`) : null;
  return element("section", {}, element("h3", {}, "What was searched"),
    element("p", {}, `${counted(absence.documentsSearched, "document")}${pages}.`), unread,
    element("ul", { class: "hits" }, absence.termHits.map(({ term, chunks }) => element("li", {},
      element("span", { class: "words" }, `“${term}”`), chunks ? ` stands in ${counted(chunks, "passage")}` : " stands nowhere"))));
}
