# Prometheus from Debian's package, with the paths, user and arguments of the official image.
ARG BASE=pame-base:offline
FROM ${BASE}
COPY deploy/offline/prometheus/prometheus deploy/offline/prometheus/promtool /bin/
RUN install -d -o 65534 -g 65534 /prometheus /etc/prometheus
USER 65534:65534
WORKDIR /prometheus
EXPOSE 9090
ENTRYPOINT ["/bin/prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
