from io import StringIO

from rich.console import Console

from chassis.kept_traces import KeptSpan
from cli.traces import trees


def kept(span_id: str, parent_id: str, name: str, **more) -> KeptSpan:
    values = {"start_ns": 0, "milliseconds": 1.5, "failed": False, "attributes": {}}
    return KeptSpan("t", span_id, parent_id, name, **{**values, **more})


def shown(*spans: KeptSpan) -> list[str]:
    console = Console(file=StringIO(), width=200)
    for tree in trees(spans):
        console.print(tree)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_span_stands_below_the_one_that_called_it():
    grade = kept("b", "a", "grade", attributes={"clausegate.kept": 2, "rpc.method": "Query"})

    assert shown(kept("a", "", "clausegate.answer.v1.QueryService/Query"), grade) == [
        "      1.5 ms  answer.v1.QueryService/Query",
        "└──       1.5 ms  grade  kept=2",
    ]


def test_without_its_beginning_a_trace_has_several_trees():
    assert len(trees([kept("b", "gone", "grade"), kept("c", "gone", "verify")])) == 2


def test_prompts_and_replies_are_not_shown():
    chat = kept("a", "", "chat", attributes={"gen_ai.input.messages": "secret", "gen_ai.request.model": "m"})

    assert shown(chat) == ["      1.5 ms  chat  model=m"]


def test_names_that_steer_a_terminal_are_made_visible():
    assert "\x1b" not in "".join(shown(kept("a", "", "\x1b[2Jx")))
