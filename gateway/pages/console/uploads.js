// Takes files in: dropped or chosen, two at a time, each with its progress or what is wrong with it.
import { button, counted, element } from "./elements.js";
import { Broken, post } from "./server.js";
import { card, RECEIPTS, STAGES } from "./words.js";

const AT_ONCE = 2;
/** What systems leave in folders. */
const LITTER = /^(\.|~\$|Thumbs\.db$|desktop\.ini$)/i;

/** The part of the view that takes files; `changed` is called when some are in. */
export function uploads(changed) {
  const source = element("input", { id: "source", value: "documents", spellcheck: "false", autocomplete: "off", "aria-describedby": "source-help" });
  const list = element("ul", { class: "uploads" });
  const state = element("p", { class: "aside", role: "status" });
  const take = (files) => takeIn(files, source.value.trim(), { list, state, changed });
  const files = chooser({ multiple: true, accept: ".pdf,.docx,.html,.htm,.md,.txt", "aria-label": "Files to add" }, take);
  const folder = chooser({ webkitdirectory: true, "aria-label": "Folder to add" }, take);
  const zone = element("div", { class: "drop" },
    element("p", {}, "Drop files or a folder here: PDF, DOCX, HTML, Markdown or text."),
    element("div", { class: "row" },
      element("div", { class: "source" }, element("label", { for: "source" }, "Source"), source,
        element("p", { class: "aside", id: "source-help" }, "The name under which they are filed.")),
      button("Choose files", () => files.click(), "quiet"), button("Choose a folder", () => folder.click(), "quiet")),
    files, folder, state, list);
  droppable(zone, take);
  return zone;
}

function chooser(attributes, take) {
  const input = element("input", { type: "file", hidden: true, tabindex: "-1", ...attributes, change: () => {
    take([...input.files].map((file) => [file.webkitRelativePath || file.name, file]));
    input.value = "";
  } });
  return input;
}

function droppable(zone, take) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    take((await Promise.all(entries.map(filesOf))).flat());
  });
}

/** The files of a dropped file or folder, with their paths. */
async function filesOf(entry) {
  if (entry.isFile) {
    return [[entry.fullPath.slice(1), await new Promise((resolve, reject) => entry.file(resolve, reject))]];
  }
  const reader = entry.createReader();
  const entries = [];
  for (;;) { // A reader gives a hundred at a time, and none at the end.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    entries.push(...some);
  }
  return (await Promise.all(entries.map(filesOf))).flat();
}

async function takeIn(files, source, { list, state, changed }) {
  const wanted = files.filter(([path]) => !path.split("/").some((part) => LITTER.test(part)));
  const rows = wanted.map(([path, file]) => new Row(path, file));
  list.replaceChildren(...rows.map((row) => row.root));
  let done = 0;
  const tell = () => { state.textContent = `${done} of ${counted(rows.length, "file")} done`; };
  tell();
  const waiting = [...rows];
  const work = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      await row.send(source);
      done += 1;
      tell();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const failures = rows.filter((row) => row.failed);
  list.prepend(...failures.map((row) => row.root));
  state.textContent = `${counted(rows.length - failures.length, "file")} taken in${failures.length ? `, ${failures.length} failed` : ""}`;
  changed();
}

/** A file on its way in. */
class Row {
  constructor(path, file) {
    this.path = path;
    this.file = file;
    this.failed = false;
    this.state = element("span", { class: "aside" }, "waiting");
    this.bar = element("progress", { "aria-label": `Progress of ${path}`, max: 1, value: 0 });
    this.root = element("li", {}, element("span", { class: "words" }, path), " ", this.state, this.bar);
  }

  async send(source) {
    const form = new FormData();
    form.append("source", source);
    form.append("path", this.path);
    form.append("file", this.file);
    this.bar.removeAttribute("value");
    this.state.textContent = "sending";
    try {
      if (!(await this.received(form))) throw new Broken();
    } catch (error) {
      this.failed = true;
      this.root.classList.add("failed");
      this.state.textContent = `failed: ${error.message}`;
    }
    this.bar.remove();
  }

  async received(form) {
    let receipt = null;
    for await (const [name, data] of post("/v1/documents", form)) {
      if (name === "progress") this.progress(data);
      if (name === "receipt") receipt = data;
    }
    if (receipt) {
      const { warnings } = card(receipt.document);
      this.state.textContent = [RECEIPTS[receipt.outcome], warnings].filter(Boolean).join("; ");
    }
    return receipt;
  }

  progress({ stage, done, total }) {
    this.state.textContent = total ? `${STAGES[stage]}, ${done} of ${total}` : STAGES[stage];
    if (total) this.bar.value = done / total;
    else this.bar.removeAttribute("value");
  }
}
