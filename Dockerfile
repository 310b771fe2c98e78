# Built and run with the packages that the bot needs.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts
COPY scripts ./scripts
COPY src ./src
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    DISCOCLAW_DATA_DIR=/data \
    DISCOCLAW_WORKSPACE_DIR=/workspace \
    DISCOCLAW_HTTP_PORT=9464 \
    DISCOCLAW_PAGE_HOST=0.0.0.0 \
    DISCOCLAW_HTTP_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY scripts/container.mjs ./scripts/
RUN mkdir /data /workspace /backups && chown node:node /data /workspace /backups
USER node
VOLUME ["/data", "/workspace", "/backups"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["node", "scripts/container.mjs", "--check"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "scripts/container.mjs"]
