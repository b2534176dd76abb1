import { expect, test } from "bun:test"
import { idleStatus } from "../../test/support/fakes/idle-status.ts"
import { openRules } from "../../test/support/rules.ts"
import { waitUntil } from "../../test/support/wait-until.ts"
import type { ClaimRequest, QueueStore } from "../domain/queue/queue-store.ts"
import type { ClaimedRun } from "../domain/queue/queued-run.ts"
import { ResponseKeeper, responseLimits } from "../domain/runs/contents/response-keeper.ts"
import { LiveRuns } from "../domain/runs/live-runs.ts"
import type { Runner, RunSlot } from "../domain/runs/runner.ts"
import { noMask } from "../domain/secrets/secret-mask.ts"
import { createVal, type Val } from "../domain/vals/vals.ts"
import { QueueWorker, queueWorkerLimits } from "./queue-worker.ts"

const unused = () => Promise.reject(new Error("This test does not use it"))

/** A queue in memory that notes what is asked of it. */
class FakeQueue implements QueueStore {
  readonly requests: ClaimRequest[] = []
  readonly #waiting: ClaimedRun[]

  constructor(waiting: readonly ClaimedRun[]) {
    this.#waiting = [...waiting]
  }

  async claim(request: ClaimRequest) {
    this.requests.push(request)
    return { runs: this.#waiting.splice(0, request.runsMax), next: null }
  }

  saveClaims = async () => true
  release = async () => {}
  enqueue = unused
  countWaiting = unused
  drop = unused
  takeOver = unused
  depth = unused
}

/** Runs end at once. Notes how many there are. */
class FakeRunner implements Runner {
  open = 0
  openMax = 0
  ended = 0

  async acquire(_: unknown, run: Parameters<Runner["acquire"]>[1]): Promise<RunSlot> {
    this.open += 1
    this.openMax = Math.max(this.openMax, this.open)
    const slot: RunSlot = {
      ...{ mask: noMask, fetch: unused, connect: unused, stop() {} },
      call: async () => ({ kind: "returned", json: "1", kept: 1, isTruncated: false }),
      release: () => {
        this.open -= 1
        this.ended += 1
      },
    }
    await run.begin?.(slot)
    return slot
  }

  retire(): void {}
  endAllOf(): void {}
  status = () => idleStatus
}

function toRun(val: Val): ClaimedRun {
  return {
    ...{ id: Bun.randomUUIDv7(), valId: val.id, version: 1, followsCurrent: false },
    ...{ accountId: val.ownerId, ownerId: val.ownerId, parentId: null, source: "api", args: [] },
    ...{ queuedAt: 1, input: null, request: null, logs: [], logsTruncated: false, logGap: null },
    ...{ fence: 1, attempt: 1, retries: 0, depth: 0, isAccountSuspended: false },
  }
}

test("QueueWorker claims more runs while earlier ends are being written, but not without limit", async () => {
  await using rules = await openRules()
  const { deps } = rules
  const val = await createVal(deps, await rules.addCaller("ada"), { name: "hello", code: "1" })
  const onError = (error: unknown) => expect(error).toBeUndefined()
  const disk = Promise.withResolvers<readonly string[]>()
  const runs = { ...deps.runs, record: () => disk.promise }
  const liveRuns = new LiveRuns({ runs, nodeId: deps.newId(), now: deps.now, onError })
  const queueStore = new FakeQueue(Array.from({ length: 10 }, () => toRun(val)))
  const runner = new FakeRunner()
  const worker = new QueueWorker({
    ...{ ...deps, runs, liveRuns, runner, queueStore, nodeId: deps.newId(), onError },
    begunRuns: { note: async () => {}, forget() {} },
    responses: new ResponseKeeper({ ...responseLimits, bodyBytesMax: 0 }, deps.now),
    programs: {
      of: async ({ id, version, type, ownerId }, accountId) => ({
        ...{ key: id, valId: id, version, type, ownerId, accountId, label: "", entryUrl: "" },
        ...{ endpoint: "", load: unused },
      }),
      ofUnsaved: unused,
    },
    mailInputs: { read: unused },
    allowances: { hasRun: () => true, countRun() {} },
    limits: { ...queueWorkerLimits, runsMax: 2, runsPerAccountMax: 2, claimsFactor: 3 },
    ...{ delayOf: () => 0, notify() {}, listen: () => () => {} },
  })
  worker.start()
  await waitUntil(() => runner.ended === 6)
  expect(worker.stats().active).toBe(6)
  disk.resolve([])
  await waitUntil(() => runner.ended === 10 && worker.stats().active === 0)
  const { requests } = queueStore
  expect(Math.max(...requests.map(({ held, runsMax }) => held.length + runsMax))).toBe(6)
  expect(runner.openMax).toBe(2)
  await worker.stop()
  await liveRuns.stop()
})
