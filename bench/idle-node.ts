import { compose } from "../packages/server/src/compose.ts"
import { loadConfig } from "../packages/server/src/config/config.ts"
import type { Runner, RunSlot } from "../packages/server/src/domain/runs/runner.ts"
import { noMask } from "../packages/server/src/domain/secrets/secret-mask.ts"
import { Histogram } from "../packages/server/src/shared/histogram.ts"

/*
 * The server without sandboxes: everything but the vals. It starts, records and ends runs as the real
 * one does, and each run returns at once.
 */

const slot: RunSlot = {
  mask: noMask,
  call: async () => ({ kind: "returned", json: "null", kept: null, isTruncated: false }),
  fetch: () => Promise.reject(new Error("Cannot fetch: this node has no vals")),
  connect: () => Promise.reject(new Error("Cannot connect: this node has no vals")),
  stop() {},
  release() {},
}

const coldStarts = new Histogram()
const runner: Runner = {
  async acquire(_, run) {
    await run.begin?.(slot)
    return slot
  },
  retire() {},
  endAllOf() {},
  runsOf: () => 0,
  status: () => ({
    ...{ isolation: "none", processes: 0, ready: 0, runs: 0, waiting: 0 },
    ...{ memoryBytes: 0, memoryBytesMax: 0, coldStarts },
  }),
}

const config = loadConfig(process.env, [])
const hamlet = await compose(config, { runner, resolver: null })
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
