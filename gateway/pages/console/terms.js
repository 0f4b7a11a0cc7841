// Defined terms within a quote: their definition is shown while the mouse or the focus is on them.
import { element } from "./elements.js";
import { flowing } from "./quotes.js";

let made = 0;

/** Makes the defined terms in the text of `shown` something to rest on, each once. */
export function withTerms(shown, definitions, citations) {
  for (const { term, citationNumber } of definitions) {
    const citation = citations.get(citationNumber);
    const found = citation && place(shown, term);
    if (!found) continue;
    const [node, at] = found;
    const rest = node.splitText(at);
    rest.data = rest.data.slice(term.length);
    node.after(explained(term, citation));
  }
}

/** The first text node that holds `term` as a word of its own, and where; none within another term or a mark. */
function place(shown, term) {
  for (const node of [...shown.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE)) {
    for (let at = node.data.indexOf(term); at >= 0; at = node.data.indexOf(term, at + 1)) {
      const around = [node.data[at - 1], node.data[at + term.length]];
      if (!around.some((beside) => beside && /[\p{L}\p{N}]/u.test(beside))) return [node, at];
    }
  }
  return null;
}

function explained(term, citation) {
  const id = `definition-${++made}`;
  const tip = element("span", { class: "tip", role: "tooltip", id }, flowing(citation.quote));
  const word = element("span", { class: "term", tabindex: "0", "aria-describedby": id }, term, tip);
  word.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    word.classList.add("dismissed");
  });
  for (const name of ["mouseleave", "blur"]) word.addEventListener(name, () => word.classList.remove("dismissed"));
  return word;
}
