// Why a question came out as it did: what was found, and what the gate saw.
import { element } from "./elements.js";
import { FATES, RULES } from "./words.js";

/** The record of a response, folded away; nothing where it was not kept. */
export function why({ explanation, retrieval } = {}) {
  if (!explanation) return null;
  return element("details", { class: "why" }, element("summary", {}, "Why this answer"),
    gate(explanation.gate), found(retrieval, explanation.routed),
    explanation.candidates.length ? candidates(explanation.candidates) : null,
    element("p", { class: "aside" }, explanation.stages.map(({ name, latencyMs }) => `${name} ${latencyMs.toFixed(0)} ms`).join(" · ")));
}

function gate(decision) {
  if (!decision) return null;
  const { topScore, threshold, chunksAboveThreshold } = decision;
  const scores = topScore === undefined || topScore === null ? ""
    : ` The best passage scored ${topScore.toFixed(3)}, ${threshold.toFixed(3)} is needed, and ${chunksAboveThreshold} reached it.`;
  return element("p", {}, RULES[decision.rule], scores);
}

function found(retrieval, routed) {
  return [
    retrieval?.merged && element("p", {}, `${retrieval.merged.uniqueChunks} passages were found: ` +
      `${retrieval.vector.count} by meaning, ${retrieval.bm25.count} by words.`),
    routed.length ? element("p", {}, "The question names ", element("span", { class: "words" }, routed.map((each) => each.documentId).join(", ")),
      "; nothing else was searched.") : null,
  ].filter(Boolean);
}

function candidates(all) {
  const best = all.toSorted((one, other) => other.score - one.score);
  const percent = (share) => (share === undefined || share === null ? "" : `${(100 * share).toFixed(0)} %`);
  const cell = (text, look) => element("td", { class: look }, text);
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Passages that were weighed" },
    element("table", {}, element("caption", {}, "Passages that were weighed, best first"),
      element("thead", {}, element("tr", {}, ["Passage", "Score", "Answers", "Fate"].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, best.map((each) => element("tr", {},
        cell([each.documentId, each.section].filter(Boolean).join(" · "), "words"), cell(each.score.toFixed(3)),
        cell(percent(each.probability)), cell(FATES[each.fate]))))));
}
