import { compose } from "../packages/server/src/compose.ts"
import { loadConfig } from "../packages/server/src/config/config.ts"
import { createIdleRunner } from "./queue/idle-runner.ts"

/*
 * The server without sandboxes: everything but the vals. It starts, records and ends runs as the real
 * one does, and each run returns at once.
 */

const config = loadConfig(process.env, [])
const hamlet = await compose(config, { runner: createIdleRunner(), resolver: null })
await hamlet.nouns.users.ensureFirst({ username: config.user, token: config.token })
hamlet.nouns.queue.start()
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => hamlet.app.fetch(request),
})
console.log(`listens at http://127.0.0.1:${server.port}\n`)
process.on("SIGTERM", async () => {
  await server.stop()
  await hamlet.stop()
  process.exit(0)
})
