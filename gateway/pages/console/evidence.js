// The place of a quote in its document, beside the answer: a picture of the page, or the text around.
import { button, byId, element } from "./elements.js";
import { flowing, marked } from "./quotes.js";
import { documentPath, get } from "./server.js";
import { label, place } from "./words.js";

const PICTURE_WIDTH = 1200;
const AROUND = 1500;
/** Most that the contract gives at once. */
const LONGEST = 20_000;
const panel = byId("evidence");
/** Where there is no room beside the answer, the place covers it, and what is covered takes no focus. */
const wide = matchMedia("(min-width: 64rem)");
let shown = { citations: [], index: 0 };
let cameFrom = null;
let addresses = [];

/** Opens the citation of this number; the others can be stepped through. */
export function showEvidence(citations, number) {
  const index = citations.findIndex((citation) => citation.number === number);
  if (index < 0) return;
  if (panel.hidden) cameFrom = document.activeElement;
  shown = { citations, index };
  panel.hidden = false;
  cover();
  draw();
  byId("evidence-title").focus();
}

/** Closes the place and gives the focus back. */
export function closeEvidence() {
  if (panel.hidden) return;
  panel.hidden = true;
  cover();
  mark(null);
  release();
  cameFrom?.focus();
}

function cover() {
  document.body.classList.toggle("beside", !panel.hidden);
  for (const covered of document.querySelectorAll("header, main, .skip")) covered.inert = !panel.hidden && !wide.matches;
}

function step(by) {
  const index = shown.index + by;
  if (!shown.citations[index]) return;
  shown.index = index;
  draw();
}

function release() {
  addresses.forEach((address) => URL.revokeObjectURL(address));
  addresses = [];
}

/** Tells the answer's numbers which of them is shown. */
function mark(number) {
  for (const each of document.querySelectorAll(".number")) {
    each.toggleAttribute("aria-current", Number(each.dataset.number) === number);
  }
}

async function draw() {
  const { citations, index } = shown;
  const citation = citations[index];
  release();
  mark(citation.number);
  const content = element("div", { class: "content", "aria-busy": "true" }, element("p", { class: "aside" }, "Opening the document …"));
  panel.replaceChildren(bar(citations, index),
    element("h2", { id: "evidence-title", tabindex: "-1" }, `Quote ${citation.number}`),
    element("p", { class: "place" }, element("span", { class: "words" }, label(citation)), place(citation) && ` · ${place(citation)}`),
    content);
  const parts = await contentOf(citation);
  if (citation !== shown.citations[shown.index]) return;
  content.replaceChildren(...parts);
  content.removeAttribute("aria-busy");
  showMark();
}

function bar(citations, index) {
  return element("div", { class: "bar", role: "group", "aria-label": "Quotes" },
    button("Previous", () => step(-1), "quiet", { disabled: index === 0, "aria-keyshortcuts": "k ArrowLeft" }),
    button("Next", () => step(1), "quiet", { disabled: index === citations.length - 1, "aria-keyshortcuts": "j ArrowRight" }),
    element("span", { class: "aside", role: "status" }, `${index + 1} of ${citations.length}`),
    citations[index].boxes?.length ? button("Larger", enlarge, "quiet", { "aria-pressed": String(panel.classList.contains("large")) }) : null,
    button("Close", closeEvidence, "quiet", { "aria-keyshortcuts": "Escape" }));
}

function enlarge({ target }) {
  target.setAttribute("aria-pressed", panel.classList.toggle("large"));
  showMark();
}

function showMark() {
  panel.querySelector(".content mark, .content .marked-place")?.scrollIntoView({ block: "center", inline: "start" });
}

async function contentOf(citation) {
  try {
    return citation.boxes?.length ? await pictures(citation) : await text(citation);
  } catch (error) {
    return [element("p", { class: "failure", role: "alert" }, error.message), asCited(citation)];
  }
}

/** The pages on which the quote stands, its words marked. */
async function pictures(citation) {
  const pages = [...new Set(citation.boxes.map((box) => box.page))];
  return Promise.all(pages.map((page) => picture(citation, page)));
}

async function picture(citation, page) {
  const boxes = citation.boxes.filter((box) => box.page === page);
  const query = new URLSearchParams({ width: PICTURE_WIDTH });
  boxes.forEach((box) => query.append("boxes", [box.left, box.top, box.right, box.bottom].join(",")));
  const drawn = await get(`${documentPath(citation.document)}/pages/${page}:render?${query}`);
  if (drawn.contentSha256 !== citation.certificate.documentSha256) throw replaced();
  const bytes = Uint8Array.from(atob(drawn.png), (character) => character.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "image/png" }));
  addresses.push(address);
  const image = element("img", { src: address, width: drawn.width, height: drawn.height, alt: `Page ${page}, the words of the quote marked: ${citation.quote}` });
  const spot = element("span", { class: "marked-place" });
  spot.style.top = `${(100 * boxes[0].top) / drawn.pageHeight}%`;
  spot.style.left = `${(100 * boxes[0].left) / drawn.pageWidth}%`;
  await image.decode();
  return element("figure", {}, element("div", { class: "page" }, image, spot),
    element("figcaption", {}, `Page ${page} of ${drawn.pageCount}`));
}

/** The text around the quote, its parts marked. */
async function text(citation) {
  const spans = citation.parts.length ? citation.parts.map((part) => part.span) : [citation.span];
  const start = spans[0].start;
  const end = Math.min(spans.at(-1).end, start + LONGEST);
  const given = await get(`${documentPath(citation.document)}:text`, { start, end, around: AROUND });
  if (citation.certificate && given.generation !== citation.certificate.generation) throw replaced();
  const ranges = spans.map((span) => ({ start: span.start - given.span.start, end: span.end - given.span.start }));
  return [element("div", { class: "words excerpt", tabindex: "0", role: "region", "aria-label": "Text of the document" },
    marked(flowing(given.text), ranges))];
}

function replaced() {
  return new Error("The document has been replaced since it was quoted. This is the quote as it stood:");
}

function asCited(citation) {
  return element("blockquote", { class: "words" }, flowing(citation.quote));
}

wide.addEventListener("change", cover);
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (panel.hidden || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = { j: () => step(1), k: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1), Escape: closeEvidence }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
