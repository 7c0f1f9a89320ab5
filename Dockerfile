# grale serve in a container (docs/serving.md):
#   docker build -t grale . && docker run --rm -p 127.0.0.1:8000:8000 grale
FROM python:3.11-slim
WORKDIR /grale
# what RDKit needs to draw, and the slim image may lack
RUN apt-get update \
 && apt-get install -y --no-install-recommends libxrender1 libxext6 libexpat1 \
 && rm -rf /var/lib/apt/lists/*
# options of pip, such as where to find a build of torch without CUDA
ARG PIP_OPTIONS=""
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir ${PIP_OPTIONS} -c constraints.txt torch \
 && pip install --no-cache-dir ${PIP_OPTIONS} -c constraints.txt '.[web]' \
 && useradd --create-home grale
USER grale
WORKDIR /home/grale
EXPOSE 8000
HEALTHCHECK --interval=30s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=5)"]
# all addresses of the container; which of them can be reached is up to -p
ENTRYPOINT ["grale", "serve", "--host", "0.0.0.0", "--port", "8000"]
