# worker and starter in an image that has nothing else: no shell, no packages, no
# root. It starts a worker; see docker-compose.yml for its variables.

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG COMMIT=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X recrawl/internal/config.Commit=${COMMIT}" -o /out/ ./starter ./worker
# A new volume takes its owner from the folder that it is mounted on.
RUN mkdir -p /folders/archive /folders/tmp

FROM scratch
LABEL org.opencontainers.image.title=recrawl org.opencontainers.image.version=0.2.0
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/starter /out/worker /usr/local/bin/
COPY --from=build --chown=65532:65532 /folders/ /
ENV PATH=/usr/local/bin HOME=/tmp
USER 65532:65532
CMD ["worker"]
