"""Figures over natural questions, from replies that are given."""

import pytest

from evals.asking import Asked, Quote, Reply
from evals.corpora import JudgedClaim, NaturalQuestion
from evals.experiments import grounding, natural_folder, natural_scoped
from evals.metrics import Passage

RIGHT = Quote((Passage("cuad/A.txt", 0, 40),), "The Fee is USD 50\nper month.", frozenset())
ELSEWHERE = Quote((Passage("cuad/A.txt", 90, 99),), "Nothing.", frozenset())
FOREIGN = Quote((Passage("cuad/B.txt", 0, 40),), "The Fee is USD 70.", frozenset())


class GivenReplies:
    """Stands where an `Asker` stands: the reply to each question is given."""

    def __init__(self, *replies: Reply) -> None:
        self.given = replies
        self.asked: list[Asked] = []

    async def replies(self, questions, *, gate=True):
        self.asked = list(questions)
        return list(self.given)


def reply(*quotes: Quote, refused: bool = False, related: bool = False, score: float = 0.5) -> Reply:
    return Reply(refused, score, quotes, "", related=related, markdown_length=100 * len(quotes))


def question(*, answerable: bool, must: tuple[str, ...] = ()) -> NaturalQuestion:
    gold = (Passage("cuad/A.txt", 10, 30),) if answerable else ()
    return NaturalQuestion("n", "q?", "q of A?", "amount", "cuad/A.txt", gold, answerable, must)


async def test_figures_of_answerable_questions():
    asked = [question(answerable=True, must=("usd 50 per month",))] * 4
    given = [reply(RIGHT), reply(ELSEWHERE, RIGHT), reply(FOREIGN), reply(refused=True)]
    figures = await natural_scoped(GivenReplies(*given), asked)
    assert figures["quote right"] == 0.5
    assert figures["first right"] == 0.25
    assert figures["must held"] == 0.5
    assert figures["false refusals"] == 0.25
    assert figures["document first"] == pytest.approx(2 / 3)
    assert figures["Markdown"] == 100


async def test_what_becomes_of_silent_questions():
    asked = [question(answerable=False)] * 4 + [question(answerable=True)]
    given = [
        reply(refused=True),
        reply(ELSEWHERE, related=True),
        reply(ELSEWHERE),
        reply(FOREIGN),
        reply(RIGHT),
    ]
    figures = await natural_scoped(GivenReplies(*given), asked)
    assert (figures["refused of silent"], figures["related of silent"], figures["answered of silent"]) == (
        0.25,
        0.25,
        0.5,
    )
    assert figures["answered, first right"] == figures["answered, any right"] == pytest.approx(1 / 3)
    assert figures["AUROC"] == 0.5


async def test_over_the_folder_the_question_names_its_contract():
    replies = GivenReplies(reply(RIGHT))
    await natural_folder(replies, [question(answerable=True)])
    assert replies.asked == [Asked("q of A?")]


class GivenVerdicts:
    """Stands where an `Asker` stands: the verdict on each sentence is given."""

    def __init__(self, *verdicts: str) -> None:
        self.given = verdicts

    async def verdicts(self, texts):
        return list(self.given)


async def test_sentences_that_are_called_true_and_are_not_are_told_apart():
    wanted = ["supported"] * 4 + ["overstated"] * 2 + ["contradicted", "not_found"]
    given = ["supported", "verbatim", "contradicted", "overstated", "supported", "overstated", "overstated"]
    claims = [JudgedClaim(f"{i}", verdict) for i, verdict in enumerate(wanted)]
    figures = await grounding(GivenVerdicts(*given, "supported"), claims)
    assert figures["agreement"] == 2 / 8
    assert (figures["supported"], figures["overstated"]) == (0.25, 0.5)
    assert (figures["contradicted"], figures["not found"]) == (0.0, 0.0)
    assert (figures["false passed"], figures["beyond passed"], figures["true denied"]) == (0.5, 0.5, 0.25)
