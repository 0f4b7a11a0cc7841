import json

from opentelemetry.sdk.trace import TracerProvider

from chassis.kept_traces import Switch, read_trace, traces_kept
from chassis.telemetry import current_trace_id, span, tracer

TRACER = tracer(__name__)


def kept(path):
    """A trace of two spans, one of which failed, and its id."""
    with traces_kept(path), span(TRACER, "outer", {"clausegate.kept": 2}):
        try:
            with span(TRACER, "inner"):
                raise ValueError("words of a document")
        except ValueError:
            return current_trace_id()


def test_a_trace_is_kept_with_who_called_whom(tmp_path):
    trace_id = kept(tmp_path / "logs" / "traces.jsonl")

    outer, inner = read_trace(tmp_path / "logs" / "traces.jsonl", trace_id)

    assert (outer.name, outer.parent_id, outer.attributes) == ("outer", "", {"clausegate.kept": 2})
    assert (inner.name, inner.parent_id, inner.failed) == ("inner", outer.span_id, True)
    assert outer.milliseconds >= inner.milliseconds >= 0


def test_no_words_of_an_error_are_kept(tmp_path):
    kept(tmp_path / "traces.jsonl")

    assert "words of a document" not in (tmp_path / "traces.jsonl").read_text()


def test_others_of_the_machine_cannot_read_them(tmp_path):
    kept(tmp_path / "traces.jsonl")

    assert (tmp_path / "traces.jsonl").stat().st_mode & 0o007 == 0


def test_what_is_older_is_found_in_the_file_before(tmp_path):
    trace_id = kept(tmp_path / "traces.jsonl")
    (tmp_path / "traces.jsonl").rename(tmp_path / "traces.jsonl.1")

    assert len(read_trace(tmp_path / "traces.jsonl", trace_id)) == 2


def test_a_torn_line_costs_no_other(tmp_path):
    trace_id = kept(tmp_path / "traces.jsonl")
    with (tmp_path / "traces.jsonl").open("a") as file:
        file.write(f'{{"trace_id": "{trace_id}", "na')

    assert len(read_trace(tmp_path / "traces.jsonl", trace_id)) == 2


def test_a_folder_that_cannot_be_written_costs_no_work(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "traces.jsonl").mkdir()

    assert len(kept(tmp_path / "logs" / "traces.jsonl")) == 32


def test_nothing_is_sampled_until_somebody_keeps_it():
    switch = Switch()
    of = TracerProvider(switch).get_tracer("test")
    before = of.start_span("before").is_recording()
    switch.on()

    assert (before, of.start_span("after").is_recording()) == (False, True)


def test_a_line_is_json_with_the_names_of_its_fields(tmp_path):
    kept(tmp_path / "traces.jsonl")

    first = json.loads((tmp_path / "traces.jsonl").read_text().splitlines()[0])

    assert set(first) == {
        *("trace_id", "span_id", "parent_id", "name"),
        *("start_ns", "milliseconds", "failed", "attributes"),
    }
