"""What an error says of itself."""

import pytest

from chassis import errors

CODES_ALONE = [errors.NotFound, errors.AlreadyExists, errors.Conflict, errors.Precondition, errors.DataLoss]


@pytest.mark.parametrize("base", [*CODES_ALONE, errors.InvalidInput, errors.Unavailable])
def test_an_error_without_a_reason_of_its_own_cannot_be_declared(base):
    with pytest.raises(TypeError, match="Lost gives no reason"):
        type("Lost", (base,), {})


@pytest.mark.parametrize("base", CODES_ALONE)
def test_what_stands_for_a_code_alone_has_no_reason(base):
    assert base.code
    assert not hasattr(base, "reason")
