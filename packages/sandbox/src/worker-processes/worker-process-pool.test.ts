import { afterAll, describe, expect, test } from "bun:test"
import { fileURLToPath } from "node:url"
import type { Misdeed } from "./testing/rude-worker.ts"
import { workerDefaults } from "./worker-limits.ts"
import { WorkerProcessPool } from "./worker-process-pool.ts"

describe("WorkerProcessPool, of a worker that", () => {
  const pool = new WorkerProcessPool({
    isolation: "deno",
    program: fileURLToPath(new URL("./testing/rude-worker.ts", import.meta.url)),
    isRepeatable: false,
    limits: {
      ...workerDefaults,
      startMsMax: 60_000,
      waitMsMax: 60_000,
      requestMsMax: 500,
      responseBytesMax: 1_000,
      lifeSecondsMax: 60,
    },
  })
  afterAll(() => pool.stop())
  const ask = (misdeed: Misdeed | "responds") => pool.run("ada", JSON.stringify(misdeed))

  const misdeeds: readonly (readonly [Misdeed, string])[] = [
    ["sends a frame without a message", "crashed"],
    ["sends a frame that is shorter than a message", "crashed"],
    ["sends the beginning of a frame that is too large", "crashed"],
    ["ends", "crashed"],
    ["never responds", "timed_out"],
  ]
  test.each(misdeeds)("%s, ends it and starts another", async (misdeed, kind) => {
    const [failed, next] = await Promise.all([ask(misdeed), ask("responds")])
    expect(failed).toMatchObject({ kind, isStarted: true })
    expect(next).toEqual({
      kind: "responded",
      head: '"responds"',
      bytes: Buffer.from("bytes"),
    })
  })
})
