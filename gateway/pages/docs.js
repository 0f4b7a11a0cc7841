// Renders /openapi.json: every operation with its fields, and a form to try it. No dependencies, no build step.
"use strict";

const TYPES = { json: "application/json", events: "text/event-stream", form: "multipart/form-data" };

/** An element with attributes (functions become listeners) and children (strings become text). */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The comments' Markdown, as far as they use it: paragraphs, lists and `code`. */
function prose(text, name = "p") {
  return (text || "").split(/\n\n+/).filter(Boolean).map((block) => {
    const lines = block.split("\n");
    if (lines.every((line) => line.startsWith("- "))) {
      return element("ul", {}, ...lines.map((line) => element("li", {}, ...inline(line.slice(2)))));
    }
    return element(name, {}, ...inline(block));
  });
}

function inline(text) {
  return text.split(/(`[^`]+`)/).map((part) =>
    part.startsWith("`") && part.length > 1 ? element("code", {}, part.slice(1, -1)) : part);
}

/** What the page knows of the contract. */
class Contract {
  constructor(document) {
    this.document = document;
  }

  resolved(value) {
    if (!value.$ref) return value;
    return value.$ref.slice(2).split("/").reduce((here, key) => here[key], this.document);
  }

  operations() {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), ...operation })));
  }

  /** A schema without its alternative of null, which only says that a field may be left out. */
  plain(schema) {
    if (schema.anyOf) return { ...schema, ...schema.anyOf.find((each) => each.type !== "null") };
    return Array.isArray(schema.type) ? { ...schema, type: schema.type[0] } : schema;
  }

  typeName(schema) {
    if (schema.$ref) return schema.$ref.split("/").pop().split(".").pop();
    if (schema.type === "array") return `list of ${this.typeName(schema.items)}`;
    return schema.format ? `${schema.type} (${schema.format})` : schema.type || "anything";
  }
}

/** The fields of an object; those that hold objects open on demand, since types may be deep. */
function fieldList(contract, schema) {
  const list = element("dl", { class: "fields" });
  for (const [name, given] of Object.entries(schema.properties || {})) {
    const field = contract.plain(given);
    const inner = contract.resolved(field.type === "array" ? field.items : field);
    list.append(
      element("dt", {}, element("code", {}, name), " ", element("span", { class: "type" }, contract.typeName(field))),
      element("dd", {}, ...prose(field.description, "div"), ...expandable(contract, inner)));
  }
  return list;
}

function expandable(contract, schema) {
  if (schema.enum) return [opening("Values", () => prose(schema.description, "div"))];
  if (schema.properties) return [opening("Fields", () => [fieldList(contract, schema)])];
  return [];
}

function opening(title, content) {
  const details = element("details", {
    toggle: () => { if (details.open && details.childElementCount === 1) details.append(...content()); },
  }, element("summary", {}, title));
  return details;
}

function section(title, ...content) {
  return content.length ? [element("h4", {}, title), ...content] : [];
}

function renderOperation(contract, operation) {
  const parameters = (operation.parameters || []).map((each) => contract.resolved(each));
  const body = operation.requestBody ? operation.requestBody.content : {};
  const [bodySchema] = Object.values(body).map((each) => contract.resolved(each.schema));
  const answers = operation.responses["200"].content;
  const badge = answers[TYPES.events] ? [element("span", { class: "stream" }, "events")] : [];
  const shown = parameters.filter((each) => each.in !== "header");
  return element("section", { class: "operation", id: operation.operationId, "aria-labelledby": `${operation.operationId}-title` },
    element("h3", { id: `${operation.operationId}-title` },
      element("span", { class: "verb" }, operation.verb), operation.path, ...badge),
    ...prose(operation.description || operation.summary),
    ...section("Parameters", ...(shown.length ? [parameterList(contract, shown)] : [])),
    ...section("Body", ...(bodySchema ? [...prose(operation.requestBody.description), fieldList(contract, bodySchema)] : [])),
    ...section("Answer", ...Object.entries(answers).flatMap(([type, answer]) => answerParts(contract, type, answer))),
    tryIt(contract, operation, parameters, body));
}

function parameterList(contract, parameters) {
  const properties = parameters.map((each) => [each.name, { ...each.schema, description: each.description }]);
  return fieldList(contract, { properties: Object.fromEntries(properties) });
}

function answerParts(contract, type, answer) {
  if (type !== TYPES.events) {
    return [opening(contract.typeName(answer.schema), () => [fieldList(contract, contract.resolved(answer.schema))])];
  }
  return answer.schema.oneOf.map((event) => {
    const { event: { const: name }, data: { contentSchema } } = event.properties;
    return opening(`event ${name}: ${contract.typeName(contentSchema)}`, () =>
      [...prose(event.description), fieldList(contract, contract.resolved(contentSchema))]);
  });
}

/** A body to start from: the fields that the contract calls required, but for those in the path. */
function example(schema, parameters) {
  const required = Object.entries(schema.properties).filter(([name, field]) =>
    /Required\./.test(field.description) && !parameters.some((each) => each.name === name));
  return Object.fromEntries(required.map(([name, field]) => [name, [].concat(field.type).includes("array") ? [] : ""]));
}

function tryIt(contract, operation, parameters, body) {
  const inputs = [];
  const add = (name, where, control, text) => {
    control.id = `${operation.operationId}-${where}-${name}`;
    inputs.push({ name, where, control });
    return [element("label", { for: control.id }, ...inline(text)), control];
  };
  const fields = parameters.flatMap((each) => add(each.name, each.in,
    element("input", { autocomplete: "off", required: each.required }),
    `\`${each.name}\`${each.schema.type === "array" ? " (several: separate with commas)" : ""}`));
  if (body[TYPES.json]) {
    const text = JSON.stringify(example(contract.resolved(body[TYPES.json].schema), parameters), null, 2);
    fields.push(...add("body", "body", element("textarea", { spellcheck: "false" }, text), "Body"));
  }
  if (body[TYPES.form]) {
    for (const [name, field] of Object.entries(body[TYPES.form].schema.properties)) {
      const type = field.contentMediaType ? "file" : "text";
      fields.push(...add(name, "form", element("input", { type, autocomplete: "off" }), `\`${name}\``));
    }
  }
  const details = opening("Try it", () => [form(operation, inputs, fields)]);
  details.className = "attempt";
  return details;
}

function form(operation, inputs, fields) {
  const send = element("button", { type: "submit" }, "Send");
  const stop = element("button", { type: "button", class: "quiet", disabled: true }, "Stop");
  const outcome = element("p", { class: "outcome", role: "status" });
  const output = element("pre", { tabindex: "0", hidden: true, "aria-label": "Answer" });
  let running;
  stop.addEventListener("click", () => running.abort());
  const submit = async (event) => {
    event.preventDefault();
    running = new AbortController();
    [send.disabled, stop.disabled, output.hidden, output.textContent] = [true, false, false, ""];
    outcome.textContent = "Waiting …";
    try {
      await perform(request(operation, inputs, running.signal), outcome, output);
    } catch (error) {
      outcome.textContent = error.name === "AbortError" ? "Stopped." : `Failed: ${error.message}`;
    } finally {
      [send.disabled, stop.disabled] = [false, true];
    }
  };
  return element("form", { class: "try", submit }, ...fields, element("div", {}, send, stop), outcome, output);
}

function request(operation, inputs, signal) {
  const query = new URLSearchParams();
  const key = document.getElementById("key").value.trim();
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  let path = operation.path;
  let body;
  for (const { name, where, control } of inputs) {
    const value = control.value;
    if (where === "body") {
      body = value;
      headers["Content-Type"] = TYPES.json;
    } else if (where === "form") {
      body = body || new FormData();
      if (control.files) [...control.files].forEach((file) => body.append(name, file));
      else body.append(name, value);
    } else if (where === "path") {
      path = path.replace(`{${name}}`, value.split("/").map(encodeURIComponent).join("/"));
    } else if (value !== "" && where === "header") {
      headers[name] = value;
    } else if (value !== "") {
      const schema = operation.parameters.find((each) => each.name === name).schema;
      (schema.type === "array" ? value.split(",") : [value]).forEach((each) => query.append(name, each.trim()));
    }
  }
  if (operation.responses["200"].content[TYPES.events]) headers.Accept = TYPES.events;
  const url = query.size ? `${path}?${query}` : path;
  return new Request(url, { method: operation.verb, headers, body, signal });
}

async function perform(asked, outcome, output) {
  const started = performance.now();
  const response = await fetch(asked);
  const milliseconds = () => `${Math.round(performance.now() - started)} ms`;
  outcome.classList.toggle("bad", !response.ok);
  outcome.textContent = `${response.status}, going on …`;
  if ((response.headers.get("Content-Type") || "").startsWith(TYPES.events)) {
    for await (const [name, data] of events(response)) output.append(`${name}\n${pretty(data)}\n\n`);
  } else {
    output.textContent = pretty(await response.text());
  }
  outcome.textContent = `${response.status} after ${milliseconds()}`;
}

/** The events of a response as [name, data]; comments are heartbeats. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
      if (fields.event) yield [fields.event, fields.data];
    }
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function renderReasons(contract) {
  const reasons = contract.document.components.schemas.Reason["x-enum-descriptions"];
  const list = element("dl", { class: "fields" });
  for (const [name, text] of Object.entries(reasons)) {
    list.append(element("dt", { id: name }, element("code", {}, name)), element("dd", {}, ...prose(text, "div")));
  }
  return [
    element("h2", { id: "problems" }, "Problems"),
    ...prose(contract.document.components.schemas.Problem.description),
    element("section", { class: "operation" },
      fieldList(contract, contract.document.components.schemas.Problem), ...section("Reasons", list)),
  ];
}

function menuEntry(href, text) {
  return element("li", {}, element("a", { href: `#${href}` }, ...text));
}

async function main() {
  const contract = new Contract(await (await fetch("/openapi.json")).json());
  const content = document.getElementById("content");
  const menu = element("ul");
  content.replaceChildren(...prose(contract.document.info.description));
  for (const tag of contract.document.tags) {
    const operations = contract.operations().filter((each) => each.tags.includes(tag.name));
    content.append(element("h2", { id: tag.name }, tag.name), ...prose(tag.description),
      ...operations.map((each) => renderOperation(contract, each)));
    menu.append(element("li", {}, element("span", {}, tag.name), element("ul", {},
      ...operations.map((each) => menuEntry(each.operationId, [element("b", {}, each.verb), ` ${each.path}`])))));
  }
  content.append(...renderReasons(contract));
  menu.append(menuEntry("problems", ["Problems"]));
  document.getElementById("menu").append(menu);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

main().catch((error) => {
  document.getElementById("loading")?.replaceChildren(`The contract could not be loaded: ${error.message}`);
});
