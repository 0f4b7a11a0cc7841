// An answer as something to keep: text with citations, or Markdown.
import { button, element, saveFile } from "./elements.js";
import { flowing } from "./quotes.js";
import { OUTCOMES, label, place } from "./words.js";

/** The answer as plain text, its citations numbered below. */
export function asText(question, response) {
  const cited = response.citations.map((each) =>
    `[${each.number}] “${flowing(each.quote)}”\n    ${[label(each), place(each), each.document].filter(Boolean).join(", ")}`);
  const said = response.refusal ? [response.refusal.message, response.refusal.missing] : [];
  return [question, OUTCOMES[response.outcome].title, summary(response), ...said, ...cited,
    ...response.notes.map((note) => note.text)].filter(Boolean).join("\n\n") + "\n";
}

function summary({ summary: sentences }) {
  if (!sentences.length) return "";
  const words = sentences.map(({ text, citationNumbers }) => `${text} ${citationNumbers.map((number) => `[${number}]`).join("")}`);
  return `In a model’s words: ${words.join(" ")}`;
}

/** The answer as Markdown. Words of documents are escaped: they are no markup. */
export function asMarkdown(question, response) {
  const cited = response.citations.flatMap((each) => [
    flowing(each.quote).split("\n").map((line) => `> ${escaped(line)}`).join("\n"),
    `[${each.number}] ${escaped([label(each), place(each)].filter(Boolean).join(", "))}  \n\`${each.document.replaceAll("`", "'")}\`, SHA-256 \`${each.certificate.documentSha256}\``,
  ]);
  const said = response.refusal ? [response.refusal.message, response.refusal.missing].filter(Boolean) : [];
  const notes = response.notes.length ? [`## Notes`, ...response.notes.map((note) => `- ${escaped(note.text)}`)] : [];
  return [`# ${escaped(question)}`, `**${OUTCOMES[response.outcome].title}**`, escaped(summary(response)), ...said.map(escaped),
    ...cited, ...notes, `Asked of Clausegate, ${response.metadata.finishedAt}.`].filter(Boolean).join("\n\n") + "\n";
}

function escaped(text) {
  return text.replace(/\n/g, " ").replace(/[\\`*_[\]<>#|~&]/g, "\\$&");
}

/** The buttons below a finished answer. */
export function savingButtons(question, response) {
  const said = element("span", { role: "status", class: "aside" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(asText(question, response));
      said.textContent = "Copied.";
    } catch {
      said.textContent = "The browser does not let pages copy here. Save it as Markdown.";
    }
  };
  const name = `${question.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60).replace(/^-|-$/g, "") || "answer"}.md`;
  return element("div", { class: "acts" }, button("Copy as text", copy),
    button("Save as Markdown", () => saveFile(name, asMarkdown(question, response), "text/markdown")),
    button("Print", () => window.print()), said);
}
