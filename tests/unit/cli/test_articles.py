import pytest
from google.protobuf.json_format import ParseDict

from clausegate.corpus.v1.article_pb2 import Article
from cli.articles import article_markdown

ARTICLE = {
    "articleId": "fees",
    "title": "Fees",
    "summary": "What is due.",
    "articleBody": "## Devices\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "keyClaims": [
        {
            "claim": "A device costs USD 95.",
            "confidence": "CLAIM_CONFIDENCE_SOURCED",
            "citation": {
                "document": "cme/a.pdf",
                "documentLabel": "Fee Schedule · CME",
                "section": "4.2 Fees",
                "page": 3,
                "quote": "USD 95\nper [device] * month",
            },
        },
        {"claim": "It may rise.", "confidence": "CLAIM_CONFIDENCE_OPINION"},
    ],
    "concepts": ["Device"],
    "openQuestions": ["Who is exempt?"],
    "backlinkSuggestions": [{"title": "Audits", "articleId": "audits"}, {"title": "Reports"}],
    "sources": ["cme"],
    "model": "gpt-4.1",
}


def markdown(**changes):
    return article_markdown(ParseDict({**ARTICLE, **changes}, Article()))


@pytest.mark.parametrize(
    "part",
    [
        "# Fees\n",
        "\n\nWhat is due.\n\n",
        "\n\n## Devices\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "- **sourced** A device costs USD 95.\n  > “USD 95 per \\[device\\] \\* month”\n",
        "  > — Fee Schedule · CME › 4.2 Fees, page 3\n",
        "- **opinion** It may rise.\n\n",
        "## Open questions\n\n- Who is exempt?",
        "- Audits (audits)\n- Reports (no such article yet)",
    ],
)
def test_an_article_shows(part):
    assert part in markdown()


def test_a_stale_article_says_so_first():
    assert "**stale: its documents have changed** · fees · gpt-4.1 · cme" in markdown(stale=True)
    assert "stale" not in markdown()


def test_lists_without_items_are_left_out():
    assert "Open questions" not in markdown(openQuestions=[])


def test_no_text_steers_the_terminal():
    assert "\x1b" not in markdown(title="\x1b[2J", articleBody="\x1b]8;;http://x\x07")
