import { noMask } from "@hamlet/kit"
import type { Runner, RunSlot } from "@hamlet/sandbox"
import { idleStatus } from "../../packages/server/test/support/fakes/idle-status.ts"

/** What happens to the runs. */
export interface RunWatch {
  start?(accountId: string): void
  end?(): void
}

/** A runner without processes: each run returns at once, and is recorded as in production. */
export function createIdleRunner(on: RunWatch = {}): Runner {
  const refuse = () => Promise.reject(new Error("No val of this benchmark gets requests"))
  const slot: RunSlot = {
    mask: noMask,
    call: async () => ({ kind: "returned", json: "null", kept: null, isTruncated: false }),
    fetch: refuse,
    connect: refuse,
    stop() {},
    release: () => on.end?.(),
  }
  return {
    async acquire({ accountId }, run) {
      await run.begin?.(slot)
      on.start?.(accountId)
      return slot
    },
    retire() {},
    endAll() {},
    runsOf: () => 0,
    status: () => idleStatus,
  }
}
