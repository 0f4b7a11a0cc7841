// Words of documents: shown as they stand, with parts of them marked. Offsets are code points, as on the wire.
import { element } from "./elements.js";

/** Line ends within a paragraph are the page's and become spaces; tables and empty lines keep theirs. */
export function flowing(text) {
  return text.includes(" | ") ? text : text.replace(/(?<!\n)\n(?!\n)/g, " ");
}

/** `text` as nodes, the given ranges (start and end in code points, ascending) within `mark`. */
export function marked(text, ranges) {
  const points = Array.from(text);
  const nodes = [];
  let at = 0;
  for (const { start, end } of ranges) {
    const from = Math.max(start, at);
    if (end <= from) continue;
    nodes.push(points.slice(at, from).join(""), element("mark", {}, points.slice(from, end).join("")));
    at = end;
  }
  nodes.push(points.slice(at).join(""));
  return nodes.filter((node) => node !== "");
}

/** A citation's quote, what answers the question within it in `mark`. */
export function quote(citation) {
  return element("blockquote", { class: "words" }, marked(flowing(citation.quote), citation.highlights || []));
}

/** The words of a citation that answer the question by themselves; empty without any. */
export function headline(citation) {
  const points = Array.from(flowing(citation?.quote || ""));
  return (citation?.highlights || []).map(({ start, end }) => points.slice(start, end).join("")).join(" … ");
}
