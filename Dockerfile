# The service for containers, which bring their own Postgres: DATABASE_URL is needed.
# `fairdeal serve` is all of it in one; `fairdeal migrate`, `fairdeal web` and `fairdeal worker` are its parts.

FROM python:3.11-slim AS build
WORKDIR /src
COPY requirements/build.txt requirements/base.txt requirements/base.in requirements/
RUN python -m venv /opt/fairdeal \
    && /opt/fairdeal/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && /opt/fairdeal/bin/pip install --no-cache-dir --require-hashes -r requirements/base.txt
COPY pyproject.toml README.md LICENSE ./
COPY service service
COPY migrations migrations
RUN /opt/fairdeal/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --system --uid 10001 fairdeal && install -d -o 10001 /var/lib/fairdeal
COPY --from=build /opt/fairdeal /opt/fairdeal
ENV PATH=/opt/fairdeal/bin:$PATH HOST=0.0.0.0 FAIRDEAL_HOME=/var/lib/fairdeal
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/livez', timeout=2)"]
CMD ["fairdeal", "serve"]
