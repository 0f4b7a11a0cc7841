"""What docker-compose.yml, the Dockerfile, the collector and Prometheus say of each other and of settings."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from chassis.telemetry import TelemetrySettings
from cli.settings import CommandSettings
from gateway.settings import GatewaySettings
from services.answer.settings import AnswerSettings
from services.ingest.settings import IngestSettings
from services.retrieval.settings import RetrievalSettings

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
COLLECTOR = yaml.safe_load((ROOT / "deploy/otel/collector.yaml").read_text())
PROMETHEUS = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
STAGES = dict(
    re.findall(r"^FROM runtime AS (\w+)\n(.*?)(?=^FROM |\Z)", (ROOT / "Dockerfile").read_text(), re.M | re.S)
)
SETTINGS = {
    "ingest": [IngestSettings],
    "retrieval": [RetrievalSettings],
    "answer": [AnswerSettings],
    "gateway": [GatewaySettings],
    "cli": [CommandSettings, IngestSettings, RetrievalSettings, AnswerSettings],
}
VIEWERS = ("jaeger", "prometheus", "grafana")
SERVED = ("ingest", "retrieval", "answer", "gateway")


def environment(service):
    return SERVICES[service].get("environment", {})


def networks(service):
    return set(SERVICES[service]["networks"])


def variables(settings):
    return {
        (field.validation_alias or f"CLAUSEGATE_{name}").upper()
        for name, field in settings.model_fields.items()
    }


@pytest.mark.parametrize("service", SETTINGS)
def test_a_process_is_given_only_settings_that_it_reads(service):
    known = set.union(*(variables(each) for each in (TelemetrySettings, *SETTINGS[service])))
    exported = {name.upper() for name in TelemetrySettings.model_fields}
    options = {"CLAUSEGATE_SERVER"} if service == "cli" else set()

    assert set(environment(service)) <= known | exported | options


@pytest.mark.parametrize("service", SERVED)
def test_a_process_starts_with_its_settings(service, monkeypatch):
    for name, value in environment(service).items():
        monkeypatch.setenv(name, re.sub(r"\$\{\w+:[-?][^}]*\}", "", value))

    settings = SETTINGS[service][0]()

    assert getattr(settings, f"{service}_address").startswith("0.0.0.0:")


@pytest.mark.parametrize("service", SERVED)
def test_a_process_listens_where_its_image_is_asked_for_health(service):
    port = environment(service)[f"CLAUSEGATE_{service.upper()}_ADDRESS"].rpartition(":")[2]
    default = SETTINGS[service][0].model_fields[f"{service}_address"].default.rpartition(":")[2]
    asked = re.search(r'"chassis\.probe", "(?:http://)?127\.0\.0\.1:(\d+)', STAGES[service])

    assert port == default == asked[1]
    assert f"EXPOSE {port}\n" in STAGES[service]


@pytest.mark.parametrize(
    ("service", "name", "value"),
    [
        (service, name, address)
        for service in SETTINGS
        for name, value in environment(service).items()
        for address in value.split(",")
        if re.fullmatch(r"(https?://)?[a-z-]+:\d+", address)
    ],
)
def test_an_address_names_a_service_that_can_be_reached_and_listens_there(service, name, value):
    address = urlsplit(value if "//" in value else f"//{value}")
    listening = {
        "weaviate": {8080, 50051},
        "otel-collector": {4317, 4318},
        **{each: {int(environment(each)[f"CLAUSEGATE_{each.upper()}_ADDRESS"][8:])} for each in SERVED},
    }

    assert address.port in listening[address.hostname]
    assert networks(service) & networks(address.hostname) - {"outbound", "edge"}


def test_the_store_is_reached_by_retrieval_and_its_jobs_alone():
    neighbours = {name for name in SERVICES if networks(name) & networks("weaviate")}

    assert neighbours == {"weaviate", "retrieval", "cli"}
    assert COMPOSE["networks"]["store"]["internal"]


def test_only_those_who_may_call_a_model_server_reach_beyond_the_machine():
    outward = {name for name, network in COMPOSE["networks"].items() if not (network or {}).get("internal")}

    assert outward == {"edge", "outbound"}
    assert {name for name in SERVICES if "outbound" in networks(name)} == {"retrieval", "answer", "cli"}
    assert {name for name in SERVICES if "edge" in networks(name)} == {
        "gateway",
        "jaeger",
        "prometheus",
        "grafana",
    }


def test_only_the_gateway_and_viewers_publish_a_port_and_only_on_loopback():
    published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}

    assert published == {
        "gateway": ["${PUBLISH:-127.0.0.1:8000}:8000"],
        "jaeger": ["127.0.0.1:16686:16686"],
        "prometheus": ["127.0.0.1:9090:9090"],
        "grafana": ["127.0.0.1:3000:3000"],
    }
    assert all(SERVICES[name]["profiles"] == ["observability"] for name in VIEWERS)


@pytest.mark.parametrize("service", SERVICES)
def test_a_container_can_write_and_do_no_more_than_it_needs(service):
    container = SERVICES[service]

    assert container["read_only"] is True
    assert container["cap_drop"] == ["ALL"]
    assert container["security_opt"] == ["no-new-privileges:true"]
    assert {"memory", "pids"} <= set(container["deploy"]["resources"]["limits"])
    assert not {"privileged", "network_mode", "pid", "ipc", "cap_add", "devices"} & set(container)


@pytest.mark.parametrize("service", [name for name in SERVICES if name not in SETTINGS])
def test_what_is_not_ours_is_pinned_to_a_release(service):
    # The digest of Weaviate's release could not be had where the others were looked up.
    digest = "" if service == "weaviate" else "@sha256:[0-9a-f]{64}"

    assert re.fullmatch(rf"[a-z0-9/-]+:v?\d+\.\d+\.\d+{digest}", SERVICES[service]["image"])


@pytest.mark.parametrize("service", SETTINGS)
def test_ours_are_the_images_that_make_builds(service):
    listed = re.search(r"^PROCESSES \?= (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()

    assert SERVICES[service]["image"] == f"clausegate-{service}:${{TAG:-dev}}"
    assert sorted(listed) == sorted(STAGES)


def test_volumes_and_networks_are_declared():
    named = {
        volume.partition(":")[0]
        for service in SERVICES.values()
        for volume in service.get("volumes", ())
        if not volume.startswith(".")
    }

    assert named == set(COMPOSE["volumes"])
    assert set().union(*(networks(name) for name in SERVICES)) == set(COMPOSE["networks"])


def mounts(service):
    """What is mounted where, by the name of the volume: (folder, whether it can be written)."""
    split = [volume.split(":") for volume in SERVICES[service]["volumes"]]
    return {name: (folder, "ro" not in mode) for name, folder, *mode in split}


def test_the_back_up_that_is_told_of_takes_every_volume_and_the_restore_brings_it_back():
    told = re.findall(r"^for volume in (.*); do$", (ROOT / "docs/operations.md").read_text(), re.M)

    assert len(told) == 2
    assert all(set(each.split()) == set(COMPOSE["volumes"]) - {"prometheus"} for each in told)


def test_keys_can_be_changed_by_the_job_alone():
    folder = str(Path(environment("gateway")["CLAUSEGATE_API_KEYS_FILE"]).parent)

    assert {name: mounts(name)["keys"] for name in SETTINGS} == {
        **dict.fromkeys(SERVED, (folder, False)),
        "cli": (folder, True),
    }


def test_the_key_that_seals_records_is_made_by_the_job_and_read_by_answer_alone():
    file = Path(environment("answer")["CLAUSEGATE_SIGNING_KEYS_FILE"])
    made = re.search(r"cd (\S+); test -s (\S+) \|\|", (ROOT / "Makefile").read_text())

    assert {name: mounts(name)["signing"] for name in SETTINGS if "signing" in mounts(name)} == {
        "answer": (str(file.parent), False),
        "cli": (str(file.parent), True),
    }
    assert made.groups() == (str(file.parent), file.name)


def test_the_key_by_which_ingest_writes_is_made_by_the_job_and_read_by_two_services_alone():
    file = Path(environment("ingest")["CLAUSEGATE_INDEX_KEY_FILE"])
    made = re.search(r"cd (/etc/clausegate/index); test -s (\S+) \|\|", (ROOT / "Makefile").read_text())

    assert {name: mounts(name)["index-key"] for name in SETTINGS if "index-key" in mounts(name)} == {
        "ingest": (str(file.parent), False),
        "retrieval": (str(file.parent), False),
        "cli": (str(file.parent), True),
    }
    assert environment("retrieval")["CLAUSEGATE_INDEX_KEY_FILE"] == str(file)
    assert made.groups() == (str(file.parent), file.name)


def test_the_job_checks_the_audit_log_as_answer_writes_it():
    assert mounts("answer")["audit"][1]
    assert mounts("cli")["audit"] == (mounts("answer")["audit"][0], False)
    assert (
        environment("cli")["CLAUSEGATE_SIGNING_KEYS_FILE"]
        == environment("answer")["CLAUSEGATE_SIGNING_KEYS_FILE"]
    )


def test_a_volume_begins_as_a_folder_that_the_images_user_owns():
    owned = re.search(
        r"install --directory --owner=10001 .*?--mode=0700 (.*?)\nCOPY",
        (ROOT / "Dockerfile").read_text(),
        re.S,
    )
    folders = set(owned[1].replace("\\\n", " ").split())

    assert {folder for name in SETTINGS for folder, _ in mounts(name).values()} <= folders


def test_a_large_index_gets_as_long_to_open_as_on_kubernetes():
    documents = yaml.safe_load_all((ROOT / "deploy/k8s/base/weaviate.yaml").read_text())
    (pod,) = [each["spec"]["template"]["spec"] for each in documents if each["kind"] == "StatefulSet"]
    startup = pod["containers"][0]["startupProbe"]
    seconds = startup["periodSeconds"] * startup["failureThreshold"]

    assert SERVICES["weaviate"]["healthcheck"]["start_period"] == f"{seconds // 60}m"


def test_retrieval_may_read_the_beginnings_of_many_documents_before_it_is_ready():
    assert SERVICES["retrieval"]["healthcheck"]["start_period"] == "10m"


def test_parsers_at_their_limit_fit_into_ingests_memory():
    settings = IngestSettings()
    limit = SERVICES["ingest"]["deploy"]["resources"]["limits"]["memory"]

    assert settings.max_concurrent_documents * settings.parser_memory_bytes < int(limit[:-1]) << 30
    assert limit[-1] == "g"


def test_no_secret_stands_in_the_file():
    secrets = {
        (service, name): value
        for service in SERVICES
        for name, value in environment(service).items()
        if re.search(r"KEY$|KEYS$|SECRET|PASSWORD|TOKEN", name)
    }

    assert secrets
    assert all(re.fullmatch(r"\$\{[A-Z_]+:[-?][^}]*\}", value) for value in secrets.values())


def test_the_collector_can_be_sent_to_and_asked_where_the_others_think():
    receivers = COLLECTOR["receivers"]["otlp"]["protocols"]
    fetched = {
        target
        for job in PROMETHEUS["scrape_configs"]
        for group in job["static_configs"]
        for target in group["targets"]
    }
    own = COLLECTOR["service"]["telemetry"]["metrics"]["readers"][0]["pull"]["exporter"]["prometheus"]["port"]
    ours = COLLECTOR["exporters"]["prometheus"]["endpoint"].rpartition(":")[2]

    assert receivers["grpc"]["endpoint"] == "0.0.0.0:4317"
    assert receivers["http"]["endpoint"] == "0.0.0.0:4318"
    assert fetched == {f"otel-collector:{ours}", f"otel-collector:{own}"}
    assert networks("prometheus") & networks("otel-collector")


def test_the_collector_defines_what_its_pipelines_name():
    pipelines = COLLECTOR["service"]["pipelines"].values()
    connectors = set(COLLECTOR["connectors"])
    sources = set(COLLECTOR["receivers"]) | connectors
    targets = set(COLLECTOR["exporters"]) | connectors | {"${env:TRACES_TO:-nop}"}

    assert all(set(pipeline["receivers"]) <= sources for pipeline in pipelines)
    assert all(set(pipeline["exporters"]) <= targets for pipeline in pipelines)
    assert all(set(pipeline["processors"]) <= set(COLLECTOR["processors"]) for pipeline in pipelines)
    assert set(COLLECTOR["service"]["extensions"]) == set(COLLECTOR["extensions"])


def test_the_collector_reads_variables_that_it_is_given():
    read = set(re.findall(r"\$\{env:(\w+)", (ROOT / "deploy/otel/collector.yaml").read_text()))

    assert read <= set(environment("otel-collector"))
    assert environment("otel-collector")["TRACES_ENDPOINT"] == "${TRACES_ENDPOINT:-jaeger:4317}"
    assert networks("jaeger") & networks("otel-collector")
