import os
import resource
from contextlib import contextmanager

import pytest

from chassis.tls import Tls, TlsBroken
from chassis.watched_file import FileBroken, WatchedFile
from tests.contract.certificates import NOW, files, pairs


@contextmanager
def no_free_descriptors():
    """As in a process that has as many connections as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_new_version_that_could_not_be_opened_is_taken_as_soon_as_it_can(tmp_path, caplog):
    path = tmp_path / "said"
    path.write_text("before")
    file = WatchedFile("A_FILE", path, str)
    path.write_text("the version after")

    with no_free_descriptors():
        assert [file.now(), file.now()] == ["before", "before"]

    assert file.now() == "the version after"
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_a_certificate_that_could_not_be_opened_is_taken_as_soon_as_it_can(tmp_path, caplog):
    tls = Tls(files(tmp_path, "server", "ca"), serves=True, now=lambda: NOW)
    before = tls.pem()
    new = pairs()["server"].certificate_pem() + pairs()["ca"].certificate_pem()
    (tmp_path / "server.pem").write_bytes(new)

    with no_free_descriptors():
        assert [tls.pem(), tls.pem()] == [before, before]

    assert tls.pem().chain == new
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(FileBroken, match=rf"A_FILE: {path}: not a regular file"):
        WatchedFile("A_FILE", path, str)


def test_a_file_that_a_pipe_replaces_goes_on(tmp_path):
    path = tmp_path / "said"
    path.write_text("before")
    file = WatchedFile("A_FILE", path, str)
    path.unlink()
    os.mkfifo(path)

    assert file.now() == "before"


@pytest.mark.parametrize(
    ("name", "setting"), [("server.pem", "CERTIFICATE"), ("server.key", "KEY"), ("ca.pem", "CA")]
)
def test_a_pipe_in_place_of_a_certificate_is_refused(tmp_path, name, setting):
    tls_files = files(tmp_path, "server", "ca")
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)

    with pytest.raises(TlsBroken, match=rf"CLAUSEGATE_TLS_{setting}_FILE: .*: not a regular file"):
        Tls(tls_files, serves=True, now=lambda: NOW)


def test_a_folder_in_place_of_a_file_uses_up_no_descriptors(tmp_path):
    path = tmp_path / "said"
    path.write_text("before")
    file = WatchedFile("A_FILE", path, str)
    path.unlink()
    path.mkdir()
    before = len(os.listdir("/proc/self/fd"))

    assert {file.now() for _ in range(20)} == {"before"}
    assert len(os.listdir("/proc/self/fd")) < before + 20
