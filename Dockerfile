# Node runs the TypeScript as it is: there is no build step, and production installs no development dependency.
# A tag can be moved to another image, a digest cannot. No registry of images was reachable where this was written, so the digest
# is yours to fill in, and the build refuses until then: ops/README.md says how to find it.
ARG NODE_IMAGE=node:24-slim@sha256:fill-in-the-digest--see-ops/README.md
FROM ${NODE_IMAGE}

ENV NODE_ENV=production DATA_DIR=/data PORT=3000
# glibc gives freed memory back to the system instead of keeping it. `npm start` and the unit in ops/ set it too.
ENV MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app

COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

COPY LICENSE manifest.yml ./
COPY src ./src
# A base image with an old Node.js fails here, with the reason.
RUN node src/check-node.js

# SQLite's files and the encryption key: the only place the program writes to, so the rest may be read-only. Keep it on
# a local disk, not on a network file system.
RUN mkdir /data && chown node:node /data
VOLUME /data

USER node
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
	CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# Not through npm: signals have to reach the process, which drains before it stops.
# Without the limit the young generation alone grows to 128 MiB, more than everything else together.
CMD ["node", "--max-semi-space-size=4", "src/main.ts"]
