# One image for each process: docker build --build-arg PROCESS=retrieval --tag clausegate-retrieval .
# PROCESS is an extra of pyproject.toml: ingest, retrieval, answer, gateway, embedded (all in one) or cli (jobs).
# By digest: a tag can be moved to another image. A new one is chosen by hand, with the tag that it is of.
ARG BASE=python:3.11.15-slim-trixie@sha256:90744cff8f32887f075c47d747a173ff333e9e98801667af93c357fa9f5e28ff
ARG PROCESS=embedded

# uv, unlike pip, takes versions and hashes from a lock of all processes for the packages that one of them needs.
FROM ${BASE} AS tools
WORKDIR /build
COPY requirements.lock ./
RUN sed -n '/^uv==/,/# via/p' requirements.lock > uv.txt \
    && python -m pip install --no-cache-dir --require-hashes --requirement uv.txt --target tools
ENV PATH=/build/tools/bin:$PATH \
    UV_NO_CACHE=1 UV_NO_PROGRESS=1 UV_PYTHON_DOWNLOADS=never UV_SYSTEM_CERTS=1 UV_COMPILE_BYTECODE=1

FROM tools AS packages
ARG PROCESS
COPY pyproject.toml ./
RUN uv venv /opt/packages \
    && uv pip install --python /opt/packages --require-hashes --only-binary :all: \
        --constraint requirements.lock --requirement pyproject.toml --extra "$PROCESS"

# The product itself: a layer of its own, since it changes more often than what it needs.
FROM tools AS product
COPY . ./
RUN uv build --wheel --require-hashes --build-constraint requirements.lock \
    && uv pip install --no-deps --target /opt/clausegate dist/*.whl \
    && rm -r /opt/clausegate/.lock /opt/clausegate/bin

# The embedding model and the encodings that count tokens: 93 MB, fetched again only when these few files change.
FROM ${BASE} AS model
WORKDIR /build
COPY chassis/__init__.py chassis/errors.py chassis/
COPY inference/__init__.py inference/fetch.py inference/
RUN python -m inference.fetch /opt/model /opt/encodings

# What all images share. Nothing in them installs packages, so pip goes.
FROM ${BASE} AS runtime
RUN rm -rf /usr/local/lib/python3.*/site-packages /usr/local/lib/python3.*/ensurepip /usr/local/bin/pip* \
    && install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/clausegate /etc/clausegate/keys \
        /etc/clausegate/index /etc/clausegate/signing /etc/clausegate/tls
COPY --from=packages /opt/packages /opt/packages
COPY --from=product /opt/clausegate /opt/clausegate
ENV PATH=/opt/packages/bin:$PATH PYTHONPATH=/opt/clausegate:/opt/clausegate/clausegate/product \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    HOME=/tmp CLAUSEGATE_DATA_DIR=/var/lib/clausegate
WORKDIR /var/lib/clausegate
# By number, so that an orchestrator can see that it is not root. The root file system may be read-only: what is
# written goes below CLAUSEGATE_DATA_DIR (a volume) and, for uploads by REST, to /tmp.
USER 10001:10001

FROM runtime AS ingest
EXPOSE 7001
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-m", "chassis.probe", "127.0.0.1:7001"]
ENTRYPOINT ["python", "-m", "services.ingest"]

FROM runtime AS retrieval
COPY --from=model /opt/model /opt/model
COPY --from=model /opt/encodings /opt/encodings
# The linter takes TIKTOKEN for a secret.
# hadolint ignore=DL3064
ENV CLAUSEGATE_MODEL_DIR=/opt/model TIKTOKEN_CACHE_DIR=/opt/encodings
EXPOSE 7002
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-m", "chassis.probe", "127.0.0.1:7002", "clausegate.retrieval.v1.IndexService"]
ENTRYPOINT ["python", "-m", "services.retrieval"]

FROM runtime AS answer
COPY --from=model /opt/encodings /opt/encodings
# hadolint ignore=DL3064
ENV TIKTOKEN_CACHE_DIR=/opt/encodings
EXPOSE 7003
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-m", "chassis.probe", "127.0.0.1:7003"]
ENTRYPOINT ["python", "-m", "services.answer"]

FROM runtime AS gateway
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-m", "chassis.probe", "http://127.0.0.1:8000/readyz"]
ENTRYPOINT ["python", "-m", "gateway"]

FROM runtime AS embedded
COPY --from=model /opt/model /opt/model
COPY --from=model /opt/encodings /opt/encodings
# hadolint ignore=DL3064
ENV CLAUSEGATE_MODEL_DIR=/opt/model TIKTOKEN_CACHE_DIR=/opt/encodings
EXPOSE 7000 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-m", "chassis.probe", "http://127.0.0.1:8000/readyz"]
ENTRYPOINT ["python", "-m", "embedded"]

FROM runtime AS cli
COPY --from=model /opt/model /opt/model
COPY --from=model /opt/encodings /opt/encodings
# hadolint ignore=DL3064
ENV CLAUSEGATE_MODEL_DIR=/opt/model TIKTOKEN_CACHE_DIR=/opt/encodings
ENTRYPOINT ["python", "-m", "cli"]

# Last, since the revision changes with every commit.
FROM ${PROCESS}
ARG PROCESS
ARG REVISION=unknown
LABEL org.opencontainers.image.title="clausegate-${PROCESS}" \
    org.opencontainers.image.description="Clausegate, process ${PROCESS}" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.licenses="LicenseRef-Proprietary"
