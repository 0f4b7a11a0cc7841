from corpus.spans import Span
from inference.reading.model import Passage
from tests.unit.training.questions import TEXTS, WINDOWS, chunk, found, question
from training.examples import Example, Group, passage_of
from training.found import FOLDER, SCOPED, Asked
from training.groups import Choice, compete, found_groups, general_group

ALL = Choice(right=2, wrong=5)


def texts(examples):
    return [example.passage.text for example in examples]


def test_right_windows_come_first_then_wrong_ones_best_ranked_first():
    examples = compete(question(Span(14, 26)), WINDOWS, ALL)
    assert texts(examples) == [TEXTS[1], TEXTS[0], TEXTS[2], TEXTS[3]]
    assert [example.answers for example in examples] == [True, False, False, False]


def test_the_passage_that_is_near_is_the_first_wrong_one():
    examples = compete(question(near=Span(50, 60)), WINDOWS, Choice(wrong=2))
    assert texts(examples) == [TEXTS[3], TEXTS[0]]


def test_a_window_that_touches_the_answer_without_holding_half_of_it_is_left_out():
    examples = compete(question(Span(25, 47)), WINDOWS, ALL)
    assert texts(examples) == [TEXTS[2], TEXTS[0], TEXTS[3]]


def test_two_wordings_that_skip_meet_different_wrong_windows():
    choice = Choice(wrong=5, every=2)
    first, second = (texts(compete(question(), WINDOWS, choice, skip)) for skip in (0, 1))
    assert (first, second) == ([TEXTS[0], TEXTS[2]], [TEXTS[1], TEXTS[3]])


def test_a_group_of_what_was_found_leaves_other_documents_out():
    asked = Asked("scoped", "cuad", (question(Span(0, 13)),), SCOPED)
    by_id = {"q": found(chunk(1), chunk(2, document="other.txt"), chunk(0))}
    (group,) = found_groups(asked, by_id, ALL)
    assert [text.strip() for text in texts(group.examples)] == [TEXTS[0].strip(), TEXTS[1].strip()]


def test_over_the_folder_every_second_question_is_asked_without_the_name():
    asked = Asked("folder", "cuad", (question(), question()), FOLDER)
    groups = list(found_groups(asked, {"q": found(chunk(0), chunk(1))}, ALL))
    assert [group.question for group in groups] == ["when, at Acme?", "when?"]


def test_a_question_for_which_nothing_was_found_makes_no_group():
    asked = Asked("scoped", "cuad", (question(),), SCOPED)
    assert list(found_groups(asked, {"q": found()}, ALL)) == []


def test_a_general_group_gains_its_answer_without_the_sentences_that_answer():
    passage = Passage("One. Two.", (Span(0, 4), Span(5, 9)))
    group = general_group(Group("which?", (Example(passage, frozenset({1})),), "squad"))
    assert group.examples[-1] == Example(passage, frozenset(), frozenset({1}))


def test_a_general_group_without_an_answer_stays_as_it_is():
    group = Group("which?", (Example(passage_of("One. Two.")),), "squad")
    assert general_group(group) is group
