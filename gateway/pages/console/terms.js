// Defined terms within a quote: their definition is shown while the mouse or the focus is on them.
import { element } from "./elements.js";
import { flowing } from "./quotes.js";
import { label } from "./words.js";

let made = 0;

/** Makes the defined terms in a quote of `from` something to rest on, each once; the longest of two terms first. */
export function withTerms(shown, from, definitions, citations) {
  for (const definition of definitions.toSorted((one, other) => other.term.length - one.term.length)) {
    const citation = meant(definition, from, citations);
    const found = citation && place(shown, definition.term);
    if (!found) continue;
    const [node, at] = found;
    const rest = node.splitText(at);
    rest.data = rest.data.slice(definition.term.length);
    node.after(explained(definition.term, citation));
  }
}

/** Where documents define a term differently, the quoted document's own words count. */
function meant({ citationNumber, conflictingCitationNumbers }, from, citations) {
  const all = [citationNumber, ...conflictingCitationNumbers].map((number) => citations.get(number)).filter(Boolean);
  return all.find((citation) => citation.document === from) || all[0];
}

/** The first text node that holds `term` as words of their own, not as a part of `Non-Term`, and where. */
function place(shown, term) {
  for (const node of [...shown.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)) {
    for (let at = node.data.indexOf(term); at >= 0; at = node.data.indexOf(term, at + 1)) {
      const around = [node.data[at - 1], node.data[at + term.length]];
      if (!around.some((beside) => beside && /[\p{L}\p{N}\p{Pd}]/u.test(beside))) return [node, at];
    }
  }
  return null;
}

function explained(term, citation) {
  const id = `definition-${++made}`;
  const tip = element("span", { class: "tip", role: "tooltip", id }, flowing(citation.quote),
    element("span", { class: "aside" }, label(citation)));
  const word = element("span", { class: "term", tabindex: "0", "aria-describedby": id }, term, tip);
  word.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    word.classList.add("dismissed");
  });
  for (const name of ["mouseleave", "blur"]) word.addEventListener(name, () => word.classList.remove("dismissed"));
  return word;
}
