import { expect, test } from "bun:test"
import type { Client } from "@hamlet/contract/client"
import { watchRuns } from "./run-watcher.ts"
import type { Run } from "./runs.ts"

test("watchRuns reports the latest runs in their order, however long each request takes", async () => {
  const at = new Date().toISOString()
  const runs = ["newest", "middle", "oldest"].map(
    (id) => ({ id, status: "succeeded", runStartAt: at, runEndAt: at }) as Run,
  )
  const delaysMs: Readonly<Record<string, number>> = { oldest: 20, middle: 10, newest: 0 }
  const client = {
    async getRunLogs({ run_id }: { readonly run_id: string }) {
      await Bun.sleep(delaysMs[run_id] ?? 0)
      return { data: [{ at, level: "log", message: run_id }] }
    },
  } as unknown as Client
  const reported: string[] = []
  let isListed = false
  const watching = watchRuns(
    {
      client,
      async *listRuns() {
        if (isListed) throw new Error("the end of this test")
        isListed = true
        yield* runs
      },
      onLog: (_, { message }) => reported.push(message),
      onFailure() {},
      onProblem() {},
    },
    runs.length,
  )
  await expect(watching).rejects.toThrow("the end of this test")
  expect(reported).toEqual(["oldest", "middle", "newest"])
})
