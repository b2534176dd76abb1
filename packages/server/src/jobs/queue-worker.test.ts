import { expect, test } from "bun:test"
import { noMask } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import type { Runner, RunSlot } from "@hamlet/sandbox"
import { idleStatus } from "../../test/support/fakes/idle-status.ts"
import { openRules, type TestRules } from "../../test/support/rules.ts"
import { AppError } from "../domain/app-error.ts"
import { createClaimedRuns } from "../domain/queue/claimed-runs.ts"
import type { ClaimedRun, ClaimRequest, QueueStore } from "../domain/queue/queue-store.ts"
import { ResponseKeeper, responseLimits } from "../domain/runs/contents/response-keeper.ts"
import { LiveRuns } from "../domain/runs/live-runs.ts"
import type { RunStore } from "../domain/runs/runs.ts"
import type { Val, ValStore } from "../domain/vals/vals.ts"
import { QueueWorker, type QueueWorkerLimits, queueWorkerLimits } from "./queue-worker.ts"

const unused = () => Promise.reject(new Error("This test does not use it"))

/** A queue in memory that notes what is asked of it. */
class FakeQueue implements QueueStore {
  readonly requests: ClaimRequest[] = []
  readonly #waiting: ClaimedRun[]

  readonly #gate: Promise<void> | undefined
  claims = 0
  savedClaims = 0

  constructor(waiting: readonly ClaimedRun[], gate?: Promise<void>) {
    this.#waiting = [...waiting]
    this.#gate = gate
  }

  async claim(request: ClaimRequest) {
    this.requests.push(request)
    const runs = this.#waiting.splice(0, request.runsMax)
    await this.#gate
    this.claims += 1
    return { runs, next: null }
  }

  async saveClaims() {
    this.savedClaims += 1
    return true
  }

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
      mask: noMask,
      fetch: unused,
      connect: unused,
      stop() {},
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
  endAll(): void {}
  runsOf = () => this.open
  status = () => idleStatus
}

function toRun(val: Val): ClaimedRun {
  return {
    id: Bun.randomUUIDv7(),
    valId: val.id,
    startedFile: null,
    version: 1,
    followsCurrent: false,
    accountId: val.ownerId,
    ownerId: val.ownerId,
    parentId: null,
    source: "api",
    args: [],
    queuedAt: 1,
    input: null,
    request: null,
    logs: [],
    logsTruncated: false,
    logGap: null,
    fence: 1,
    attempt: 1,
    retries: 0,
    depth: 0,
    isAccountSuspended: false,
    isToBeCancelled: false,
  }
}

/** A worker that claims these runs, and a runner in which they end at once. */
async function openWorker(
  rules: TestRules,
  claimed: readonly ClaimedRun[],
  record: RunStore["record"],
  limits: Partial<QueueWorkerLimits> = {},
  gates: { readonly claim?: Promise<void>; readonly val?: Promise<void> } = {},
) {
  const { stores, clock } = rules
  const onError = (error: unknown) => {
    if (!(error instanceof AppError && error.code === "database_unavailable"))
      expect(error).toBeUndefined()
  }
  const runs = { ...stores.runs, record }
  const liveRuns = new LiveRuns(runs, clock.newId(), clock, onError)
  const queueStore = new FakeQueue(claimed, gates.claim)
  const vals: Pick<ValStore, "findById"> = {
    async findById(id) {
      await gates.val
      return stores.vals.findById(id)
    },
  }
  const runner = new FakeRunner()
  const forgotten: string[] = []
  const worker = new QueueWorker(
    clock.newId(),
    queueStore,
    createClaimedRuns({
      stores: { vals, versions: stores.versions, queue: queueStore },
      startedFiles: { getById: unused },
      liveRuns,
      runner,
      programs: {
        of: async ({ id, version }, accountId) => ({
          key: id,
          group: id,
          line: id,
          version,
          isHttp: false,
          accountId,
          label: "",
          entryUrl: "",
          endpoint: "",
          isMeant: () => true,
          readFile: unused,
          load: unused,
        }),
        ofUnsaved: unused,
      },
      responses: new ResponseKeeper({ ...responseLimits, bodyBytesMax: 0 }, clock.now),
      mailInputs: { read: unused },
      allowances: { hasRun: () => true, countRun() {} },
      begunRuns: { note: async () => {}, forget: (id) => void forgotten.push(id) },
      delayOf: () => 0,
    }),
    liveRuns,
    { ...queueWorkerLimits, ...limits },
    { notify() {}, listen: () => () => {} },
    onError,
  )
  worker.start()
  const stop = async () => {
    await worker.stop()
    await liveRuns.stop()
  }
  return { worker, runner, queueStore, forgotten, stop }
}

test("QueueWorker claims more runs while earlier ends are being written, but not without limit", async () => {
  await using rules = await openRules()
  const val = await rules.nouns.vals.create(await rules.addCaller("ada"), {
    name: "hello",
    code: "1",
  })
  const disk = Promise.withResolvers<readonly string[]>()
  const { worker, runner, queueStore, stop } = await openWorker(
    rules,
    Array.from({ length: 10 }, () => toRun(val)),
    () => disk.promise,
    { runsMax: 2, runsPerAccountMax: 2, claimsFactor: 3 },
  )
  await waitUntil(() => runner.ended === 6)
  expect(worker.stats().active).toBe(6)
  disk.resolve([])
  await waitUntil(() => runner.ended === 10 && worker.stats().active === 0)
  const { requests } = queueStore
  expect(Math.max(...requests.map(({ held, runsMax }) => held.length + runsMax))).toBe(6)
  expect(runner.openMax).toBe(2)
  await stop()
})

test("QueueWorker ends a run that is to be cancelled, and does not start it", async () => {
  await using rules = await openRules()
  const val = await rules.nouns.vals.create(await rules.addCaller("ada"), {
    name: "hello",
    code: "1",
  })
  const run = { ...toRun(val), isToBeCancelled: true, retries: 3 }
  const recorded: unknown[] = []
  const { worker, runner, stop } = await openWorker(rules, [run], async (runs) => {
    for (const { id, status, claim } of runs) recorded.push([id, status, claim?.retryMs])
    return []
  })
  await waitUntil(() => recorded.length > 0 && worker.stats().active === 0)
  expect([recorded, runner.openMax]).toEqual([[[run.id, "cancelled", undefined]], 0])
  await stop()
})

test.each(["claim", "val"] as const)(
  "QueueWorker starts no run that the node lost before the %s was read",
  async (name) => {
    await using rules = await openRules()
    const val = await rules.nouns.vals.create(await rules.addCaller("ada"), {
      name: "hello",
      code: "1",
    })
    const gate = Promise.withResolvers<void>()
    const [limits, gates] = [{ pollMs: 1 }, { [name]: gate.promise }]
    const opened = await openWorker(rules, [toRun(val)], async () => [], limits, gates)
    const { worker, runner, queueStore, stop } = opened
    await waitUntil(() => queueStore.requests.length > 0)
    if (name === "val") await waitUntil(() => worker.stats().active === 1)
    worker.loseAll()
    gate.resolve()
    await waitUntil(() => queueStore.claims >= 2 && worker.stats().active === 0)
    expect(runner.ended).toBe(0)
    if (name === "claim") await waitUntil(() => queueStore.savedClaims > 0)
    await stop()
  },
)

test("QueueWorker forgets that runs have begun whose ends could be recorded only after an outage", async () => {
  await using rules = await openRules()
  const val = await rules.nouns.vals.create(await rules.addCaller("ada"), {
    name: "hello",
    code: "1",
  })
  let isDown = true
  const run = toRun(val)
  const { worker, runner, forgotten, stop } = await openWorker(
    rules,
    [run],
    async () => {
      if (isDown) throw new AppError("database_unavailable", "It is away")
      return []
    },
    { pollMs: 1 },
  )
  await waitUntil(() => runner.ended === 1 && worker.stats().active === 0)
  expect(forgotten).toEqual([])
  isDown = false
  await waitUntil(() => forgotten.length > 0)
  expect(forgotten).toEqual([run.id])
  await stop()
})
