from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.spans import Span
from inference.tokens import TokenCounter, estimate
from services.answer.context import format_chunk
from services.answer.corpus import Candidate
from services.answer.evidence.budget import BudgetLimits, pack
from services.answer.evidence.grading import GradedCandidate
from tests.unit.nouns import a_chunk

BY_CHARACTER = TokenCounter("characters", len)
chunks = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 200)), max_size=12)


def graded(grade: int | None, length: int, name: str = "id") -> GradedCandidate:
    text = "x" * length
    chunk = a_chunk(text, chunk_id=name, alias="alias", document_id="a/b", span=Span(0, length))
    return GradedCandidate(Candidate(chunk, 0.5, 0.0, 0.5, ()), 0.5, 0.5, grade=grade)


def cost(one: GradedCandidate) -> int:
    return len(format_chunk(one.candidate.chunk))


def test_chunks_get_what_prompt_and_answer_leave_but_never_more_than_their_own_limit():
    limits = BudgetLimits()
    assert limits.for_chunks(prompt_tokens=0) == 57_300
    assert limits.for_chunks(prompt_tokens=10_000) == 47_952
    assert limits.for_chunks(prompt_tokens=99_000) == 0


def test_the_higher_grade_is_packed_first():
    low, high = graded(1, 10), graded(3, 100)
    assert pack([low, high], cost(high), BY_CHARACTER).kept == (high,)


def test_the_shorter_is_packed_first_on_equal_grades():
    long, short = graded(2, 100), graded(2, 10)
    assert pack([long, short], cost(short) + 5, BY_CHARACTER).kept == (short,)


def test_what_fits_keeps_the_order_it_came_in():
    first, second = graded(1, 50), graded(3, 10)
    assert pack([first, second], 10_000, BY_CHARACTER).kept == (first, second)


def test_a_chunk_that_does_not_fit_is_passed_over():
    huge, small = graded(3, 1000), graded(1, 5)
    packed = pack([huge, small], 200, BY_CHARACTER)
    assert packed.kept == (small,)
    assert (packed.report.chunks_kept, packed.report.chunks_dropped) == (1, 1)


@settings(deadline=None)
@given(chunks, st.integers(0, 1500))
def test_packing_never_passes_its_budget_and_counts_what_it_kept(sizes, target):
    everything = [graded(grade, length, str(i)) for i, (grade, length) in enumerate(sizes)]
    packed = pack(everything, target, BY_CHARACTER)
    assert packed.report.final_tokens == sum(cost(one) for one in packed.kept) <= target
    assert packed.report.under_budget
    assert packed.report.chunks_kept + packed.report.chunks_dropped == len(everything)


def test_the_line_of_the_section_is_counted():
    plain = graded(1, 20).candidate.chunk
    assert "[Section: S]" in format_chunk(plain)
    assert estimate(format_chunk(plain)) > estimate(plain.text)
