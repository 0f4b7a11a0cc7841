// What the contract's names are in plain words.

export const OUTCOMES = {
  OUTCOME_ANSWERED: { name: "answered", title: "Answered", text: "The documents answer this. Every quote was checked against the stored text." },
  OUTCOME_RELATED: { name: "related", title: "Possibly related", text: "These passages bear on the question. It is not certain that one of them answers it." },
  OUTCOME_REFUSED: { name: "refused", title: "Not in the documents", text: "" },
};

/** What one of several documents comes to. */
export const EACH = {
  OUTCOME_ANSWERED: "answers",
  OUTCOME_RELATED: "has passages that may be related",
  OUTCOME_REFUSED: "is silent",
};

export const RULES = {
  GATE_RULE_PASSED: "The evidence was strong enough to answer from.",
  GATE_RULE_NOTHING_RETRIEVED: "Nothing was found.",
  GATE_RULE_BELOW_THRESHOLD: "No passage came near enough to the question.",
  GATE_RULE_TOO_FEW_CHUNKS: "Too few passages came near enough to the question.",
  GATE_RULE_SCORE_TOO_LOW: "The best passage scored too low.",
  GATE_RULE_RATIO_TOO_LOW: "The best passage does not stand out from the second.",
};

export const FATES = {
  CANDIDATE_FATE_KEPT: "used",
  CANDIDATE_FATE_TOO_WEAK: "too weak",
  CANDIDATE_FATE_BEYOND_LIMIT: "enough better ones",
  CANDIDATE_FATE_OVER_BUDGET: "no room",
  CANDIDATE_FATE_REFUSED: "refused with the question",
};

export const STAGES = {
  INGEST_STAGE_PARSING: "reading",
  INGEST_STAGE_CHUNKING: "cutting into passages",
  INGEST_STAGE_INDEXING: "indexing",
};

export const RECEIPTS = {
  INGEST_OUTCOME_CREATED: "added",
  INGEST_OUTCOME_UPDATED: "replaced its old version",
  INGEST_OUTCOME_UNCHANGED: "was there already",
};

/** `page 3`, `pages 3–4`, or nothing. */
export function pages({ page, lastPage }) {
  if (!page) return "";
  return lastPage && lastPage !== page ? `pages ${page}–${lastPage}` : `page ${page}`;
}

/** Where a citation or clause stands, besides its document. */
export function place(cited) {
  return [cited.section, pages(cited)].filter(Boolean).join(" · ");
}

/** What to call a citation's document. */
export function label(cited) {
  return cited.documentLabel || cited.title || cited.document;
}

/** A document's title, who makes it and when, and what a reader must know of its text. */
export function card(document) {
  const { profile } = document;
  const date = profile?.dated || profile?.effective;
  return {
    title: profile?.title?.text || document.title,
    facts: [(profile?.parties || []).map(({ name }) => name).join(" / "), date && stated(date.iso)].filter(Boolean).join(" · "),
    warnings: [
      listed("page", document.unreadablePages, "could not be read"),
      listed("page", document.scannedPages, "scanned: nobody checked the words against the image"),
      document.hiddenCharacters ? `${document.hiddenCharacters} hidden characters were left out` : "",
    ].filter(Boolean).join("; "),
  };
}

function listed(noun, numbers, text) {
  if (!numbers?.length) return "";
  return `${noun}${numbers.length > 1 ? "s" : ""} ${numbers.join(", ")} ${text}`;
}

/** `1 March 2025`, `March 2025` or `2025` for a date as ISO 8601 writes it. */
export function stated(iso) {
  const parts = iso.split("-").length;
  const options = { timeZone: "UTC", year: "numeric", ...(parts > 1 && { month: "long" }), ...(parts > 2 && { day: "numeric" }) };
  return new Intl.DateTimeFormat("en-GB", options).format(new Date(iso));
}
