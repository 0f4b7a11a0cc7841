"""The manifests of both overlays, in turn, as `kubectl kustomize` makes them."""

from __future__ import annotations

import shutil

import pytest

from tests.unit.deploy.manifests import rendered


@pytest.fixture(scope="session")
def production():
    return _rendered("prod")


@pytest.fixture(scope="session", params=["dev", "prod"])
def manifests(request):
    return _rendered(request.param)


def _rendered(overlay):
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed: `make check` needs it")
    return rendered(overlay)
