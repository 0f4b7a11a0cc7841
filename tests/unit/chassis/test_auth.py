import asyncio

import pytest

from chassis.auth import Caller, credential_metadata, current_caller, set_caller, set_credential


@pytest.mark.parametrize("tenant", ["default", "a", "acme-eu_2", "0", "x" * 64])
def test_a_tenant_is_one_part_of_a_path(tenant):
    assert Caller(tenant, "anna").tenant == tenant


@pytest.mark.parametrize(
    "tenant",
    [
        "",
        ".",
        "..",
        "a/b",
        "../acme",
        "/etc",
        "a\\b",
        ".spool",
        "-a",
        "_a",
        "a b",
        "a\n",
        "Acme",
        "é",
        "a\0",
        "x" * 65,
    ],
)
def test_what_could_lead_to_another_tenants_folder_names_none(tenant):
    with pytest.raises(ValueError, match="a tenant has"):
        Caller(tenant, "anna")


@pytest.mark.parametrize("subject", ["", "two\nlines", "bell\a", "x" * 201])
def test_a_subject_is_one_line(subject):
    with pytest.raises(ValueError, match="a subject is"):
        Caller("acme", subject)


async def test_outside_of_a_call_there_is_no_caller():
    with pytest.raises(LookupError):
        current_caller()
    assert credential_metadata() == ()


async def test_calls_that_run_at_once_keep_their_callers_apart():
    async def call(name: str) -> tuple[object, object]:
        set_caller(Caller(name, name))
        set_credential(f"Bearer {name}")
        await asyncio.sleep(0)
        return current_caller().tenant, credential_metadata()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call(name)) for name in ("acme", "globex")]

    assert [task.result() for task in tasks] == [
        ("acme", (("authorization", "Bearer acme"),)),
        ("globex", (("authorization", "Bearer globex"),)),
    ]


async def test_what_a_call_starts_is_done_for_its_caller():
    set_caller(Caller("acme", "anna"))

    async def work() -> str:
        return current_caller().subject

    assert await asyncio.create_task(work()) == "anna"
