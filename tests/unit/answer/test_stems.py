from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.answer.stems import stems_of
from services.retrieval.tokens import stems


@settings(deadline=None)
@given(st.text(alphabet="aZ19é §.,-&/()’' \n", max_size=60) | st.text(max_size=60))
@example("Rule 10b-5 of the S&P 500, 401(k), 1.2(a), USD 2,500.00, real-time")
def test_answer_counts_the_words_that_retrieval_asks_for(text):
    assert stems_of(text) == stems(text)
