// The question and its answer.
import { Answer, eventsOf } from "./answer.js";
import { button, byId, counted, element } from "./elements.js";
import { closeEvidence } from "./evidence.js";
import { keep, showRecords } from "./records.js";
import { savingButtons } from "./saving.js";
import { onSelection, selected, showScope } from "./selection.js";
import { Broken, post } from "./server.js";
import { why } from "./why.js";
import { OUTCOMES } from "./words.js";

let running = null;

/** Tells in one line how far the answer is, to those who look and those who listen. */
function tell(text) {
  byId("progress").textContent = text;
}

const PROGRESS = {
  retrieved: ({ candidates }) => `${counted(candidates, "passage")} found; weighing them …`,
  gated: () => "Choosing the quotes …",
  supporting_clauses: () => "Checking the quotes …",
};

/** Asks `question`, and shows the answer as it comes. */
export async function ask(question) {
  running?.abort();
  const own = running = new AbortController();
  closeEvidence();
  const answer = new Answer(question);
  byId("answer").replaceChildren(answer.root);
  byId("stop").hidden = false;
  tell("Searching the documents …");
  const asked = { query: question, documentIds: selected(), debug: true };
  try {
    for await (const [name, data] of post("/v1/query:stream", asked, own.signal)) {
      answer.take(name, data);
      if (PROGRESS[name]) tell(PROGRESS[name](data));
    }
    if (!answer.response) throw new Broken();
    finished(answer, question);
  } catch (error) {
    if (own === running) failed(answer, question, error);
  } finally {
    if (own === running) byId("stop").hidden = true;
  }
}

function finished(answer, question) {
  const { outcome, statements, metadata } = answer.response;
  const quotes = statements.length ? `: ${counted(statements.length, "quote")}` : "";
  tell(`${OUTCOMES[outcome].title}${quotes} · ${Number.parseFloat(metadata.latency).toFixed(1)} s`);
  showEnd(answer, question);
  keep(question, answer.response);
  showRecords(reopen);
}

function showEnd(answer, question) {
  answer.end.replaceChildren(savingButtons(question, answer.response), ...[why(answer.response.debug)].filter(Boolean));
}

/** Shows an answer that was kept. */
function reopen({ question, response }) {
  running?.abort();
  running = null;
  byId("stop").hidden = true;
  closeEvidence();
  const answer = new Answer(question);
  for (const [name, data] of eventsOf(response)) answer.take(name, data);
  showEnd(answer, question);
  byId("answer").replaceChildren(answer.root);
  byId("question").value = question;
  tell(`Kept since ${new Date(response.metadata.finishedAt).toLocaleString("en-GB")}; the documents may have changed.`);
  byId("question").scrollIntoView({ block: "center" });
  byId("question").focus();
}

function failed(answer, question, error) {
  if (error.name === "AbortError") return tell("Stopped.");
  tell("");
  const partly = answer.citations.size ? " What stands above was checked, and may not be all." : "";
  answer.end.replaceChildren(element("div", { class: "failure", role: "alert" },
    element("p", {}, `${error.message}${error instanceof Broken ? partly : ""}`),
    button("Ask again", () => ask(question), "quiet")));
}

/** Makes the form work. */
export function startAsking() {
  const field = byId("question");
  const submit = () => {
    field.select(); // What is typed next is another question.
    const question = field.value.trim();
    if (!question) return field.focus();
    history.replaceState(null, "", `/ask?q=${encodeURIComponent(question)}`);
    ask(question);
  };
  byId("question-form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  byId("stop").addEventListener("click", () => running?.abort());
  onSelection(showScope);
  showScope();
  showRecords(reopen);
  field.value = new URLSearchParams(location.search).get("q") || "";
  if (field.value) ask(field.value);
  else field.focus();
}
