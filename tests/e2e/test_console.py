"""The console in a real browser: asked, clicked and looked at as by a person."""

from __future__ import annotations

import csv
from importlib.resources import files
from threading import Event

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from tests.e2e.browser import browsing, with_browser
from tests.e2e.corpus import DEVICE_FEE, GOVERNING_LAW, UNANSWERABLE, write_corpus
from tests.e2e.cutting import cut_at
from tests.e2e.processes import clausegate, embedded_stack, in_process

pytestmark = with_browser

COLOUR_AT = """
const image = document.querySelector("#evidence img");
const canvas = document.createElement("canvas");
[canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
const context = canvas.getContext("2d");
context.drawImage(image, 0, 0);
return arguments[0].map(([x, y]) =>
  [...context.getImageData(x * canvas.width, y * canvas.height, 1, 1).data].slice(0, 3));
"""


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    file = tmp_path_factory.mktemp("console") / "keys.json"
    made = in_process("keys", "create", "--tenant", "acme", "--subject", "anna", "--file", str(file))
    return file, made.stdout.strip()


@pytest.fixture(scope="module")
def stack(tmp_path_factory, socket_dirs, free_port, keys):
    file, key = keys
    data = tmp_path_factory.mktemp("console") / "data"
    with embedded_stack(data, socket_dirs(), free_port(), CLAUSEGATE_API_KEYS_FILE=str(file)) as stack:
        corpus = write_corpus(tmp_path_factory.mktemp("corpus"))
        clausegate(
            "ingest", str(corpus), "--server", stack.grpc, CLAUSEGATE_CREDENTIAL=key
        ).check_returncode()
        yield stack


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def window(downloads):
    with browsing(downloads) as browser:
        yield browser


@pytest.fixture
def browser(window, stack, keys):
    """A window at the console of somebody who gave the key. No test may break the page's policy."""
    window.open(stack.url, key=keys[1])
    window.hosts()
    yield window
    assert window.violations() == []
    assert window.hosts() <= {stack.url.removeprefix("http://")}


@pytest.fixture(scope="module")
def http(stack, keys):
    with httpx.Client(
        base_url=stack.url, headers={"Authorization": f"Bearer {keys[1]}"}, timeout=60
    ) as client:
        yield client


def ask(browser, question):
    browser.see("#question").send_keys(question, Keys.ENTER)


def test_an_answer_comes_with_its_quotes_and_where_they_stand(browser):
    ask(browser, GOVERNING_LAW)

    browser.see("#progress", "Answered")
    assert "laws of the Republic of Ireland" in browser.see(".statements blockquote").text
    assert "Section 1. Governing Law" in browser.see(".statements .place").text


def test_a_question_in_the_address_is_asked(browser, stack):
    browser.driver.get(f"{stack.url}/ask?q=Which+law+governs+the+agreement%3F")

    assert browser.see(".answer h2").text == GOVERNING_LAW
    browser.see("#progress", "Answered")


def test_a_number_opens_the_page_with_the_words_of_the_quote_marked(browser, http):
    ask(browser, DEVICE_FEE)
    browser.see("#progress", "Answered")
    browser.click(".statements .number", "1")
    browser.see("#evidence figcaption", "Page 2 of 2")

    answer = http.post("/v1/query", json={"query": DEVICE_FEE}).json()
    page = http.get(
        "/v1/documents/northgate/fee-schedule.pdf/pages/2:render", headers={"Accept": "application/json"}
    ).json()
    boxes = answer["citations"][0]["boxes"]
    # Just within the left edge of each box, between the lines of letters, and in the margin beside it.
    within = [
        [(box["left"] + 0.5) / page["pageWidth"], (box["top"] + 1) / page["pageHeight"]] for box in boxes
    ]
    beside = [[0.02, y] for _, y in within]
    assert all(blue < 200 < red for red, _, blue in browser.script(COLOUR_AT, within))
    assert browser.script(COLOUR_AT, beside) == [[255, 255, 255]] * len(boxes)
    browser.click("#evidence .bar button", "Larger")
    browser.see("#evidence .bar [aria-pressed=true]")


def test_a_number_opens_the_text_with_the_words_of_the_quote_marked(browser, http):
    ask(browser, GOVERNING_LAW)
    browser.see("#progress", "Answered")
    browser.click(".statements .number", "1")

    cited = http.post("/v1/query", json={"query": GOVERNING_LAW}).json()["citations"][0]
    assert browser.see("#evidence mark").text == " ".join(cited["quote"].split())


def test_quotes_are_stepped_through_by_keys_and_the_focus_comes_back(browser):
    ask(browser, DEVICE_FEE)
    browser.see("#progress", "Answered")
    browser.click(".statements .number", "1")
    browser.see("#evidence h2", "Quote 1")

    browser.press("j")
    browser.see("#evidence h2", "Quote 2")
    browser.press("k")
    browser.see("#evidence h2", "Quote 1")
    browser.press(Keys.ESCAPE)

    browser.gone("#evidence")
    assert browser.script("return document.activeElement.dataset.number") == "1"


def test_a_refusal_shows_what_was_looked_at(browser):
    ask(browser, UNANSWERABLE)

    browser.see(".outcome", "This is not addressed in the provided")
    assert "5 documents" in browser.see(".refusal", "What was searched").text
    browser.see(".hits", "“parking” stands nowhere")


def test_a_stream_that_is_cut_keeps_what_was_checked_and_says_so(window, stack, keys):
    port, cut = int(stack.url.rpartition(":")[2]), Event()
    with cut_at("127.0.0.1", port, b"event: completed", cut) as relay:
        window.open(relay, key=keys[1])
        ask(window, GOVERNING_LAW)
        window.see(".statements blockquote", "Republic of Ireland")
        cut.set()
        window.see(".failure", "The connection to the server broke. What stands above was checked")
        window.see(".statements blockquote", "Republic of Ireland")
    assert window.violations() == []


def test_a_key_is_asked_for_once_and_forgotten_when_asked(window, stack, keys):
    window.open(stack.url)
    ask(window, GOVERNING_LAW)
    window.see("#key-dialog #key").send_keys("not a key", Keys.ENTER)
    window.see("#key-dialog", "did not take this key")
    window.see("#key-dialog #key").send_keys(keys[1], Keys.ENTER)
    window.see("#progress", "Answered")

    ask(window, DEVICE_FEE)
    window.see(".answer h2", DEVICE_FEE)
    window.see("#progress", "Answered")
    window.click("#forget-key")
    window.gone("#forget-key")
    assert window.script("return sessionStorage.length") == 0


HOSTILE = (
    """# Notice <img src=x onerror=alert(1)> of <script>document.title = "taken"</script>

The Zanzibar fee is <b onclick=alert(2)>USD 7.00</b> a month \u202eesrever\u202c ]]> --></textarea></script>
<script>document.title = "taken"</script> is due in the Zanzibar office.

The Zanzibar line is """
    + "unbroken" * 2_000
    + "\n"
)


def upload(browser, *files):
    """Choose files and wait until each is done."""
    browser.driver.find_element("css selector", "input[aria-label='Files to add']").send_keys(
        "\n".join(map(str, files))
    )
    browser.see(".drop [role=status]", "taken in")


@pytest.fixture
def documents(browser, stack):
    browser.driver.get(f"{stack.url}/#documents")
    browser.see(".documents li")
    return browser


def test_documents_are_found_by_what_their_cards_say(documents):
    documents.see("#document-search").send_keys("northgate fee")

    documents.see("#documents [role=status]", "1 document")
    assert documents.see(".documents li").text.startswith("Northgate Fee Schedule")


def test_only_ticked_documents_are_asked(documents):
    documents.click(".documents label", "Southport")
    documents.click("header nav a", "Ask")
    documents.see("#scope", "Asks “")
    ask(documents, "What does Subscriber mean?")

    documents.see(".statements .place")
    documents.see("#progress", " s")
    assert all("Southport" in place.text.title() for place in documents.all(".statements .place"))
    documents.click("#scope button", "Ask all")
    documents.see("#scope", "Asks all documents")


def test_a_file_is_taken_in_asked_and_deleted_after_a_question(documents, http, tmp_path):
    file = tmp_path / "kestrel.txt"
    file.write_text("KESTREL TERMS\n\nThe Kestrel deposit is USD 1,250 and is due on signature.\n")
    upload(documents, file)
    documents.see(".uploads li", "added")
    documents.see(".documents li", "documents/kestrel.txt")

    documents.see("#document-search").send_keys("kestrel")
    documents.see("#documents [role=status]", "1 document")
    documents.click(".acts button", "Delete")
    documents.click("dialog button", "Cancel")
    assert http.get("/v1/documents/documents/kestrel.txt").status_code == 200
    documents.click(".acts button", "Delete")
    documents.click("dialog button", "Delete")
    documents.see("#documents [role=status]", "0 documents")
    assert http.get("/v1/documents/documents/kestrel.txt").status_code == 404


def test_a_file_that_cannot_be_read_is_named_first_with_what_is_wrong(documents, tmp_path):
    broken, good = tmp_path / "broken.pdf", tmp_path / "good.txt"
    broken.write_bytes(b"%PDF-1.7 and no more")
    good.write_text("A good file says that the osprey is a bird.\n")
    upload(documents, good, broken)

    documents.see(".drop [role=status]", "1 file taken in, 1 failed")
    first = documents.see(".uploads li")
    assert first.text.startswith("broken.pdf failed: ")


def test_words_of_a_hostile_document_stay_words(documents, tmp_path):
    file = tmp_path / "<b>zanzibar.md"
    file.write_text(HOSTILE)
    upload(documents, file)
    documents.click("header nav a", "Ask")
    ask(documents, "What is the Zanzibar fee, in the Zanzibar line?")
    documents.see("#progress", " s")
    for number in documents.all(".statements .number"):
        number.click()
        documents.see("#evidence .excerpt")

    assert documents.driver.title == "Clausegate"
    assert documents.script("return document.querySelectorAll('#main img, #main script, main b').length") == 0
    assert "<script>" in documents.see("#evidence .excerpt").text
    assert documents.script("return document.documentElement.scrollWidth <= innerWidth")


def test_an_original_is_saved_as_it_was_taken_in(documents, downloads, tmp_path):
    write_corpus(tmp_path)
    documents.see("#document-search").send_keys("terms.txt")
    documents.see("#documents [role=status]", "1 document")
    documents.click(".acts button", "Save")

    documents.waited((downloads / "terms.txt").exists)
    assert (downloads / "terms.txt").read_bytes() == (tmp_path / "southport" / "terms.txt").read_bytes()


def test_a_term_shows_its_definition_while_the_focus_is_on_it(browser):
    ask(browser, "For how long shall the Subscriber keep the Information confidential?")
    browser.see("#progress", " s")
    browser.script("document.querySelector('.statements .term').focus()")

    assert "means" in browser.see(".tip").text
    browser.press(Keys.ESCAPE)
    browser.gone(".tip")


def test_a_term_within_another_has_not_its_definition(documents, tmp_path):
    file = tmp_path / "falcon.txt"
    file.write_text(
        'FALCON TERMS\n\n1. Definitions\n\n"Falcon Use" means use by a falcon.\n\n'
        "2. Fees\n\nThe fee for Non-Falcon Use is USD 12 a month, and Falcon Use is free of any fee.\n"
    )
    upload(documents, file)
    documents.click("header nav a", "Ask")
    ask(documents, "What is the fee for Non-Falcon Use, and what for Falcon Use?")
    documents.see("#progress", " s")

    before = (
        "return [...document.querySelectorAll('.statements .term')].map((term) => term.previousSibling?.data)"
    )
    assert documents.script(before)
    assert not any((text or "").endswith("Non-") for text in documents.script(before))


def test_why_shows_what_the_gate_saw(browser):
    ask(browser, UNANSWERABLE)
    browser.click(".why summary")

    browser.see(".why", "is needed, and 0 reached it")
    browser.see(".why td", "refused with the question")


def test_an_answer_is_kept_as_long_as_the_key(browser, stack):
    ask(browser, GOVERNING_LAW)
    browser.see("#progress", "Answered")
    browser.driver.get(stack.url)
    browser.click("#history button", GOVERNING_LAW)

    browser.see("#progress", "Kept since")
    browser.see(".statements blockquote", "Republic of Ireland")
    browser.click(".statements .number")
    browser.see("#evidence mark")
    assert browser.script("return localStorage.length") == 0


def test_an_answer_is_copied_and_saved_with_its_citations(browser, stack, downloads):
    browser.driver.execute_cdp_cmd(
        "Browser.grantPermissions",
        {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": stack.url},
    )
    ask(browser, GOVERNING_LAW)
    browser.see("#progress", "Answered")
    browser.click(".end button", "Copy as text")
    browser.see(".end [role=status]", "Copied.")
    copied = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    browser.click(".end button", "Save as Markdown")
    file = downloads / "Which-law-governs-the-agreement.md"
    browser.waited(file.exists)

    assert "[1] “This Agreement shall be governed by the laws of the Republic of Ireland.”" in copied
    saved = file.read_text()
    assert saved.startswith("# Which law governs the agreement?\n\n**Answered**")
    assert "\n> This Agreement shall be governed by the laws of the Republic of Ireland.\n" in saved
    assert "`southport/terms.txt`, SHA-256 `" in saved


def test_questions_are_asked_of_each_document_and_saved_as_a_table(browser, stack, downloads):
    browser.driver.get(f"{stack.url}/#table")
    browser.see("#questions").send_keys(f"{GOVERNING_LAW}\n{DEVICE_FEE}")
    browser.click("#table button", "Ask each document")
    browser.see("#table [role=status]", "answered")

    browser.see("#table td", "laws of the Republic of Ireland")
    browser.see("#table td", "silent")
    browser.click("#table button", "Save as CSV")
    file = downloads / "answers.csv"
    browser.waited(file.exists)
    head, *rows = csv.reader(file.read_text("utf-8-sig").splitlines())
    assert head == ["document", "title", GOVERNING_LAW, DEVICE_FEE]
    quotes = {document: law for document, _, law, _ in rows}
    assert "This Agreement shall be governed" in quotes["southport/terms.txt"]
    assert "silent" in {cell for _, _, *cells in rows for cell in cells}

    browser.click("#table td button", "Governing Law")
    assert "Republic of Ireland" in browser.see("#evidence mark").text
    assert serious(browser) == []


SERIOUS = """
const done = arguments[0];
axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => done(violations
  .filter(({impact}) => ["serious", "critical"].includes(impact))
  .map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 200)).join(" ")}`)));
"""


def serious(browser):
    """What axe-core finds that keeps somebody out."""
    browser.driver.execute_script((files("axe_core_python") / "axe.min.js").read_text())
    return browser.driver.execute_async_script(SERIOUS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("question", [GOVERNING_LAW, DEVICE_FEE, UNANSWERABLE])
def test_nobody_is_kept_out_of_an_answer(browser, scheme, question):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    ask(browser, question)
    browser.see(".verdict")
    browser.see("#progress", " s")
    for number in browser.all(".statements .number")[:1]:
        number.click()
        browser.see("#evidence .content > *")
    browser.gone("[aria-busy]")

    assert serious(browser) == []


def test_nobody_is_kept_out_of_the_documents(documents):
    assert serious(documents) == []
