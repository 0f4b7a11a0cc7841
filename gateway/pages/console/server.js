// Speaks to the gateway that served this page, and to nobody else.
import { askForKey, key } from "./key.js";

/** A failure that the server explains. */
export class Problem extends Error {
  constructor({ detail, title, errors = [], reason = "", status = 0 }) {
    const field = errors[0]?.field;
    super(field ? `${field}: ${detail}` : detail || title);
    this.reason = reason;
    this.status = status;
  }
}

/** The connection ended before what was asked for was complete. */
export class Broken extends Error {
  constructor() {
    super("The connection to the server broke.");
  }
}

/** The response to a request; raises `Problem` for a failure and asks for a key where one is wanted. */
export async function send(path, options = {}) {
  for (;;) {
    const held = key();
    const headers = { ...options.headers, ...(held ? { Authorization: `Bearer ${held}` } : {}) };
    const response = await reached(path, { ...options, headers, credentials: "omit" });
    if (response.ok) return response;
    if (response.status !== 401) throw await problem(response);
    if (key() === held) await askForKey();
  }
}

async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server cannot be reached.");
  }
}

async function problem(response) {
  try {
    return new Problem(await response.json());
  } catch {
    return new Problem({ detail: `The server answered ${response.status}.`, status: response.status });
  }
}

/** What a GET answers, parsed. */
export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters);
  const response = await send(query.size ? `${path}?${query}` : path, { headers: { Accept: "application/json" } });
  return response.json();
}

/** The events that a POST of `body` (an object or a form) answers, as [name, data]. */
export async function* post(path, body, signal) {
  const form = body instanceof FormData;
  const headers = { Accept: "text/event-stream", ...(form ? {} : { "Content-Type": "application/json" }) };
  const response = await send(path, { method: "POST", headers, body: form ? body : JSON.stringify(body), signal });
  yield* events(response.body.pipeThrough(new TextDecoderStream()).getReader());
}

async function* events(reader) {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch(broken);
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = parsed(block);
      if (event?.[0] === "error") throw new Problem(event[1]);
      if (event) yield event;
    }
  }
}

function broken(error) {
  throw error.name === "AbortError" ? error : new Broken();
}

/** An event's name and data; nothing for a heartbeat. */
function parsed(block) {
  const fields = new Map(block.split("\n").map((line) => {
    const end = line.indexOf(": ");
    return [line.slice(0, end), line.slice(end + 2)];
  }));
  return fields.has("event") ? [fields.get("event"), JSON.parse(fields.get("data"))] : null;
}

/** The address of a document's own resources. */
export function documentPath(id) {
  return `/v1/documents/${id.split("/").map(encodeURIComponent).join("/")}`;
}
