// Shows one answer as its events come. An answer that was kept is shown by the same events.
import { button, element } from "./elements.js";
import { showEvidence } from "./evidence.js";
import { headline, quote } from "./quotes.js";
import { refusal } from "./refusal.js";
import { withTerms } from "./terms.js";
import { EACH, OUTCOMES, label, place } from "./words.js";

/** The events that lead to a response, for one that is there already. */
export function* eventsOf(response) {
  const { outcome, documents, definitionsLeftOut } = response;
  const first = (numbers) => response.citations.filter((citation) => numbers.includes(citation.number));
  if (response.refusal) yield ["refused", { refusal: response.refusal }];
  else yield ["supporting_clauses", { outcome, documents, definitionsLeftOut }];
  for (const statement of response.statements) {
    yield ["statement", { statement, citations: first(statement.citationNumbers) }];
  }
  for (const definition of response.definitions) {
    const numbers = [definition.citationNumber, ...definition.conflictingCitationNumbers];
    yield ["definition", { definition, citations: first(numbers) }];
  }
  for (const note of response.notes) yield ["note", { note, citations: first(note.citationNumbers) }];
  if (response.summary.length) yield ["summary", { sentences: response.summary }];
  yield ["completed", { response }];
}

/** An answer on the page. */
export class Answer {
  constructor(question) {
    this.citations = new Map();
    this.definitions = [];
    this.quotes = [];
    this.statements = element("ol", { class: "statements" });
    this.summary = element("section", { class: "summary", hidden: true, "aria-label": "Short answer" });
    this.outcome = element("div", { class: "outcome" });
    this.headline = element("p", { class: "headline", hidden: true });
    this.documents = element("section", { class: "each", hidden: true });
    this.defined = element("section", { class: "definitions", hidden: true }, element("h3", {}, "Defined terms"));
    this.notes = element("section", { class: "notes", hidden: true }, element("h3", {}, "Notes"));
    this.end = element("div", { class: "end" });
    this.root = element("article", { class: "answer", "aria-label": "Answer" },
      element("h2", {}, question), this.outcome, this.headline, this.summary, this.statements,
      this.documents, this.defined, this.notes, this.end);
    /** The whole response, once it is there. */
    this.response = null;
  }

  /** Takes an event of the stream; those that show nothing are passed over. */
  take(name, data) {
    for (const citation of data.citations || []) this.citations.set(citation.number, citation);
    this[`on_${name}`]?.(data);
  }

  on_supporting_clauses({ outcome, documents = [] }) {
    this.showOutcome(outcome);
    this.documents.hidden = !documents.length;
    this.documents.replaceChildren(element("h3", {}, "Document by document"), element("ul", {}, documents.map((document) =>
      element("li", {}, element("span", { class: "words" }, document.label), ` – ${EACH[document.outcome]}`))));
  }

  on_statement({ statement }) {
    const citations = this.cited(statement.citationNumbers);
    const words = quote(citations[0]);
    this.quotes.push([words, citations[0].document]);
    const item = element("li", {}, words,
      ...citations.map((citation) => element("p", { class: "place" }, this.number(citation.number),
        element("span", { class: "words" }, label(citation)), place(citation) && ` · ${place(citation)}`)));
    item.classList.toggle("weak", statement.possiblyRelated);
    this.statements.append(item);
    this.showHeadline(citations[0]);
  }

  on_definition({ definition }) {
    this.definitions.push(definition);
    this.defined.hidden = false;
    const numbers = [definition.citationNumber, ...definition.conflictingCitationNumbers];
    for (const citation of this.cited(numbers)) {
      this.defined.append(element("div", { class: "definition" }, quote(citation),
        element("p", { class: "place" }, this.number(citation.number), element("span", { class: "words" }, label(citation)))));
    }
  }

  on_note({ note }) {
    this.notes.hidden = false;
    this.notes.append(element("p", {}, note.text, " ", note.citationNumbers.map((number) => this.number(number))));
  }

  on_summary({ sentences }) {
    this.summary.hidden = false;
    this.summary.replaceChildren(
      element("p", {}, sentences.map((sentence) => [sentence.text, " ",
        sentence.citationNumbers.map((number) => this.number(number)), " "]).flat(2)),
      element("p", { class: "aside" }, "In a model’s words; the quotes below decide."));
  }

  on_refused({ refusal: refused }) {
    this.showOutcome("OUTCOME_REFUSED", refused.message);
    this.statements.replaceWith(refusal(refused));
  }

  on_completed({ response }) {
    this.response = response;
    for (const [words, from] of this.quotes) withTerms(words, from, this.definitions, this.citations);
  }

  showOutcome(outcome, text = OUTCOMES[outcome].text) {
    const { name, title } = OUTCOMES[outcome];
    this.root.dataset.outcome = name;
    this.outcome.replaceChildren(element("p", { class: "verdict" }, title), element("p", {}, text));
  }

  showHeadline(citation) {
    const words = headline(citation);
    if (!words || this.headline.childElementCount) return;
    this.headline.hidden = false;
    this.headline.append(element("span", { class: "words" }, words), " ", this.number(citation.number));
  }

  cited(numbers) {
    return numbers.map((number) => this.citations.get(number)).filter(Boolean);
  }

  /** The button of a citation: it opens the place in its document. */
  number(number) {
    const open = () => showEvidence([...this.citations.values()], number);
    return button(String(number), open, "number", { "aria-label": `Quote ${number}: show where it stands`, "data-number": number });
  }
}
