import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { type Database, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { describeEachDatabase, openAgain, type TestDatabase } from "../../test/support/databases.ts"
import { withClock } from "../../test/support/fakes/clocked-database.ts"
import { FakeResolver } from "../../test/support/fakes/fake-resolver.ts"
import type { LockfileClaim, LockfileClaims, LockfileStore } from "../domain/modules/lockfiles.ts"
import { createBundleStore } from "../storage/modules/bundles.ts"
import { createLockfileClaims } from "../storage/modules/lockfile-claims.ts"
import { createLockfileStore } from "../storage/modules/lockfiles.ts"
import { createVersionFileStore } from "../storage/modules/version-files.ts"
import { createNodeStore } from "../storage/nodes.ts"
import { createValStore } from "../storage/vals/vals.ts"
import type { ClaimWorker } from "./claim-worker.ts"
import {
  createDependencyJob,
  type DependencyJobOptions,
  lockfileBackoff,
} from "./dependency-job.ts"

const ownerOf = (number: number) => `10000000-0000-7000-8000-${String(number).padStart(12, "0")}`
const idOf = (number: number) => `20000000-0000-7000-8000-${String(number).padStart(12, "0")}`
const never = new Promise<void>(() => {})

describeEachDatabase("createDependencyJob", (open) => {
  let database: TestDatabase
  /** The database, with the clock of the test. */
  let clocked: Database
  let lockfiles: LockfileStore
  let claims: LockfileClaims
  let resolver: FakeResolver
  let clock: { at: number }
  let noted: string[]
  let errors: unknown[]
  let jobs: ClaimWorker<LockfileClaim>[]
  /** How often a claim found no work. */
  let idle: number

  beforeEach(async () => {
    database = await open()
    clock = { at: 1_000_000 }
    clocked = withClock(database.db, () => clock.at)
    lockfiles = createLockfileStore(clocked)
    claims = await addNode()
    resolver = new FakeResolver()
    noted = []
    errors = []
    jobs = []
    idle = 0
    await database.db.write(function* () {
      for (let number = 1; number <= 6; number++)
        yield sql`insert into users (id, username, username_key, created_at) values (${ownerOf(number)}, ${`u${number}`}, ${`u${number}`}, 1)`
    })
  })

  afterEach(async () => {
    await Promise.all(jobs.map((job) => job.stop()))
  })

  /** The claims of a node. */
  async function addNode(db: Database = clocked): Promise<LockfileClaims> {
    const id = Bun.randomUUIDv7()
    await createNodeStore(database.db).add({ id, host: "", pid: 1, pidStarted: "" }, 60_000)
    return createLockfileClaims(db, id)
  }

  function startJob(more: Partial<DependencyJobOptions> = {}): ClaimWorker<LockfileClaim> {
    const lockfileClaims = more.lockfileClaims ?? claims
    const claim: LockfileClaims["claim"] = async (...args) => {
      const claimed = await lockfileClaims.claim(...args)
      if (claimed.length === 0) idle += 1
      return claimed
    }
    const job = createDependencyJob({
      files: createVersionFileStore(database.db),
      resolver,
      pendingLockfiles: { note: (valId, version) => noted.push(`${valId}@${version}`) },
      resolveMsMax: 60_000,
      listRemoteImports: async () => ["npm:a", "npm:b"],
      // The clock of the node is wrong.
      now: () => clock.at + 86_400_000,
      onError: (error) => errors.push(error),
      ...more,
      lockfileClaims: { ...lockfileClaims, claim },
      // Nothing happens by itself unless a test says so.
      limits: { pollMs: 3_600_000, ...more.limits },
    })
    jobs.push(job)
    job.start()
    return job
  }

  async function addVal(
    number: number,
    code = `import a from "npm:a"`,
    owner = number,
  ): Promise<void> {
    const val = {
      id: idOf(number),
      ownerId: ownerOf(owner),
      ownerName: `u${owner}`,
      name: `v${number}`,
      privacy: "private",
    } as const
    await createValStore(clocked).create(
      { ...val, type: "script", readme: null, source: { code, imports: [], isRemote: true } },
      clock.at,
    )
  }

  /** Wakes it, and waits until it has found nothing. */
  async function wakeInVain(job: ClaimWorker<LockfileClaim>): Promise<void> {
    const before = idle
    job.wake()
    await waitUntil(async () => idle > before)
  }

  const stateOf = async (number: number) => (await lockfiles.find(idOf(number), 1))?.state
  const untilState = (number: number, state: string) =>
    waitUntil(async () => (await stateOf(number)) === state)

  test("fetches pending lockfiles when it starts and when it is woken, and notifies waiters", async () => {
    resolver.add("npm:a", "the a")
    await addVal(1)
    const job = startJob()
    await untilState(1, "ready")
    await addVal(2)
    job.wake()
    await untilState(2, "ready")
    const lock = await lockfiles.find(idOf(2), 1)
    expect(lock?.resolution?.imports).toMatchObject([
      {
        specifier: "npm:a",
        resolved: "npm:a@1.0.0",
        error: null,
        places: [{ text: expect.any(String), start: 14, end: 21 }],
      },
    ])
    expect((await createBundleStore(database.db).find(lock?.bundle ?? ""))?.bytes).toBeGreaterThan(
      50,
    )
    await waitUntil(async () => noted.length === 2)
    expect(noted).toEqual([`${idOf(1)}@1`, `${idOf(2)}@1`])
    expect(errors).toEqual([])
  })

  test("takes over the packages of another version of the owner, and of no other", async () => {
    resolver.add("npm:a", 1)
    const listPackages: DependencyJobOptions["listPackages"] = async ({ code }) => {
      const start = code.indexOf(`"npm:a"`)
      return [{ specifier: "npm:a", start, end: start + 7 }]
    }
    const job = startJob({ listPackages })
    await addVal(1)
    job.wake()
    await untilState(1, "ready")
    const code = `/* another val */ import a from "npm:a"`
    await addVal(2, code, 1)
    await addVal(3, code, 3)
    job.wake()
    await Promise.all([untilState(2, "ready"), untilState(3, "ready")])
    expect(resolver.asked).toHaveLength(2)
    const [first, second] = await Promise.all([1, 2].map((one) => lockfiles.find(idOf(one), 1)))
    expect(second?.bundle).toBe(first?.bundle ?? "")
    const [taken] = second?.resolution?.imports ?? []
    expect(taken).toMatchObject({ specifier: "npm:a", resolved: "npm:a@1.0.0", entry: 0 })
    expect(taken?.places.map(({ start, end }) => code.slice(start, end))).toEqual([`"npm:a"`])
    // A bundle that was deleted is fetched again.
    await database.db.run`delete from locks`
    await database.db.run`delete from bundles`
    await addVal(4, `${code} // again`, 1)
    job.wake()
    await untilState(4, "ready")
    expect(resolver.asked).toHaveLength(3)
    expect(await createBundleStore(database.db).find(first?.bundle ?? "")).toBeDefined()
    expect(errors).toEqual([])
  })

  test("keeps resolved imports when others fail", async () => {
    resolver.add("npm:a", 1)
    await addVal(1, `import a from "npm:a"; import b from "npm:b"`)
    startJob()
    await untilState(1, "failed")
    const lock = await lockfiles.find(idOf(1), 1)
    expect(lock?.resolution?.imports.map(({ error }) => error)).toEqual([
      null,
      "there is no such package",
    ])
    expect(lock?.bundle).toMatch(/^[0-9a-f]{64}$/)
    await waitUntil(async () => noted.length === 1)
  })

  test("retries temporary errors with growing pauses, and then gives up", async () => {
    resolver.isTemporary = true
    await addVal(1)
    const job = startJob()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 10; attempt++) {
      await waitUntil(async () => resolver.asked.length === attempt && (await isAtRest(1)))
      const lock = await lockfiles.find(idOf(1), 1)
      if (lock?.state !== "pending") break
      expect(lock.resolution?.imports[0]?.error).toBe("there is no such package")
      waits.push((lock.retryAt ?? 0) - clock.at)
      clock.at = (lock.retryAt ?? 0) - 1
      await wakeInVain(job)
      expect(resolver.asked).toHaveLength(attempt)
      clock.at += 1
      job.wake()
    }
    const near = waits.map((ms, index) => ms / (lockfileBackoff.firstMs * 5 ** index))
    expect(near.map((ratio) => Math.round(ratio))).toEqual([1, 1, 1, 1])
    expect(await stateOf(1)).toBe("failed")
    // After each attempt: those who wait hear of a failure too.
    await waitUntil(async () => noted.length === 5)
  })

  const isAtRest = async (number: number) => {
    const lock = await lockfiles.find(idOf(number), 1)
    return lock?.state !== "pending" || lock.retryAt !== null
  }

  test("treats an error of the resolver as temporary", async () => {
    resolver.failure = new Error("a mistake")
    await addVal(1)
    startJob({ limits: { backoff: { ...lockfileBackoff, attemptsMax: 1 } } })
    await untilState(1, "failed")
    const places = [{ text: expect.any(String), start: 0, end: 0 }]
    const reason = { error: "the server made a mistake", resolved: null, places }
    expect((await lockfiles.find(idOf(1), 1))?.resolution?.imports).toMatchObject([
      { specifier: "npm:a", ...reason },
      { specifier: "npm:b", ...reason },
    ])
    expect(errors).toEqual([resolver.failure])
  })

  test("ends a resolution at its time limit, even if the resolver ignores the signal", async () => {
    await addVal(1)
    startJob({
      resolver: { resolve: async () => (await never) as never },
      resolveMsMax: 1,
      limits: { backoff: { ...lockfileBackoff, attemptsMax: 1 }, overtimeMs: 1 },
    })
    await untilState(1, "failed")
    expect((await lockfiles.find(idOf(1), 1))?.resolution?.imports[0]?.error).toBe(
      "fetching it took too long",
    )
    expect(errors).toEqual([])
  })

  test("resolves several at once, but one per owner", async () => {
    resolver.gate = never
    for (const [number, owner] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
      [5, 3],
    ] as const) {
      clock.at += 1
      await addVal(number, `import "npm:a" // ${number}`, owner)
    }
    const askedFor = () => resolver.asked.map((code) => code.at(-1))
    const narrow = startJob({ limits: { atOnceMax: 2 } })
    await waitUntil(async () => resolver.asked.length === 2)
    narrow.wake()
    await narrow.stop()
    // Each in its own time: they are read at the same time.
    expect(askedFor().sort()).toEqual(["1", "4"])

    clock.at += 1
    resolver.asked.length = 0
    startJob({ limits: { atOnceMax: 9 } })
    await waitUntil(async () => idle > 0 && resolver.asked.length >= 3)
    expect(askedFor().sort()).toEqual(["1", "4", "5"])
  })

  test("stop aborts the current lockfile, which another job can take at once, without counting an attempt", async () => {
    resolver.gate = never
    await addVal(1)
    const job = startJob()
    await waitUntil(async () => resolver.asked.length === 1)
    await job.stop()
    expect(await lockfiles.find(idOf(1), 1)).toMatchObject({ state: "pending", retryAt: clock.at })
    const [claim] = await claims.claim(1, [])
    expect(claim?.attempts).toBe(1)
    if (claim) await claims.giveBack(claim)
    resolver.gate = undefined
    resolver.add("npm:a", 1)
    startJob()
    await untilState(1, "ready")
    expect(errors).toEqual([])
  })

  test("takes over the lockfile of a node when it is gone", async () => {
    resolver.add("npm:a", 1)
    await addVal(1)
    const other = await addNode()
    expect(await other.claim(1, [])).toHaveLength(1)
    const job = startJob({ limits: { pollMs: 1 } })
    await wakeInVain(job)
    expect(resolver.asked).toEqual([])
    await database.db.write(function* () {
      yield sql`update nodes set is_gone = 1 where id = (select node_id from locks)`
    })
    await untilState(1, "ready")
  })

  test("gives up a lockfile over which nodes have crashed repeatedly", async () => {
    await addVal(1)
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await claims.claim(1, [])).toHaveLength(1)
      await claims.takeOver([])
    }
    startJob()
    await untilState(1, "failed")
    expect(resolver.asked).toEqual([])
    expect((await lockfiles.find(idOf(1), 1))?.resolution?.imports[0]?.error).toBe(
      "it was tried too often",
    )
  })

  test("shares the work with other nodes, and resolves nothing twice", async () => {
    resolver.add("npm:a", 1)
    for (let number = 1; number <= 6; number++) await addVal(number)
    const nodes = await Promise.all([openAgain(database), openAgain(database)])
    for (const db of nodes)
      startJob({
        lockfileClaims: await addNode(withClock(db, () => clock.at)),
        files: createVersionFileStore(db),
        limits: { atOnceMax: 1 },
      })
    for (let number = 1; number <= 6; number++) await untilState(number, "ready")
    expect(resolver.asked).toHaveLength(6)
    await Promise.all(jobs.map((job) => job.stop()))
    await Promise.all(nodes.map((db) => db.stop()))
    expect(errors).toEqual([])
  })

  test("ignores a val that was deleted during the resolution", async () => {
    const gate = Promise.withResolvers<void>()
    resolver.gate = gate.promise
    await addVal(1)
    const job = startJob()
    await waitUntil(async () => resolver.asked.length === 1)
    await createValStore(database.db).delete(idOf(1), () => {})
    await waitUntil(async () => idle > 0)
    idle = 0
    gate.resolve()
    // A worker that has finished looks for more work.
    await waitUntil(async () => idle > 0)
    await job.stop()
    expect([noted, errors]).toEqual([[], []])
  })

  test("ignores a val that was deleted before the resolution", async () => {
    await addVal(1)
    const none = async () => []
    startJob({ files: { findVersion: async () => undefined, listModules: none, list: none } })
    await waitUntil(async () => idle > 0)
    expect([resolver.asked, errors]).toEqual([[], []])
  })

  describe("of a version with files that its entry file does not import", () => {
    const hanging = `import "https://away.example/react"`
    const modules = [
      ["main.tsx", `import { b } from "./b.ts"`],
      ["b.ts", `import a from "npm:a"; export const b = a`],
      ["client/page.tsx", hanging],
    ].map(([path = "", code = ""]) => ({ path, code, specifiers: [] }))
    const files = {
      findVersion: async () => ({ number: 1, savedAt: 1, entryPath: "main.tsx" }),
      listModules: async () => modules,
      list: async () => [],
    }
    const listRemoteImports = async ({ code }: { readonly code: string }) =>
      ["npm:a", "https://away.example/react"].filter((specifier) => code.includes(specifier))
    const find = async () => (await lockfiles.find(idOf(1), 1))?.resolution
    /** The resolver waits for the page's import until the gate opens. */
    const startHanging = async () => {
      const gate = Promise.withResolvers<void>()
      resolver.add("npm:a", 1)
      resolver.gate = gate.promise
      resolver.hanging = hanging
      await addVal(1)
      startJob({ files, listRemoteImports, limits: { wholeMs: 1 } })
      await waitUntil(async () => (await find()) != null)
      return gate
    }

    test("stores the packages that the entry file needs while others hang", async () => {
      const gate = await startHanging()
      const part = await lockfiles.find(idOf(1), 1)
      expect([part?.state, part?.resolution?.isPartial]).toEqual(["pending", true])
      expect(part?.resolution?.imports.map(({ specifier }) => specifier)).toEqual(["npm:a"])
      expect(part?.resolution?.files?.map(([path]) => path)).toEqual(["b.ts"])
      expect(part?.bundle).toBe(part?.resolution?.bundle ?? "")
      expect(await createBundleStore(database.db).find(part?.bundle ?? "")).toBeDefined()
      expect(noted).toEqual([`${idOf(1)}@1`])
      resolver.add("https://away.example/react", 2)
      gate.resolve()
      await untilState(1, "ready")
      expect((await find())?.imports).toHaveLength(2)
      expect(await find()).not.toHaveProperty("isPartial")
    })

    test("keeps them when the attempt fails as a whole", async () => {
      const gate = await startHanging()
      resolver.failure = new Error("it broke")
      gate.resolve()
      await waitUntil(async () => !(await find())?.isPartial)
      const found = await lockfiles.find(idOf(1), 1)
      expect(found?.state).toBe("pending")
      expect(found?.bundle).toBe(found?.resolution?.bundle ?? "")
      expect(found?.resolution?.imports.map(({ specifier, error }) => [specifier, error])).toEqual([
        ["npm:a", null],
        ["https://away.example/react", "the server made a mistake"],
      ])
      expect(found?.resolution?.files?.map(([path]) => path)).toEqual(["b.ts", "client/page.tsx"])
      expect(errors.splice(0)).toHaveLength(1)
    })
  })

  test("reports an unavailable database, and continues when it is back", async () => {
    resolver.add("npm:a", 1)
    await addVal(1)
    const away = new Error("away")
    let isAway = true
    const job = startJob({
      lockfileClaims: {
        ...claims,
        claim: (...args) => (isAway ? Promise.reject(away) : claims.claim(...args)),
      },
    })
    await waitUntil(async () => errors.length > 0)
    expect(errors).toEqual([away])
    isAway = false
    job.wake()
    await untilState(1, "ready")
  })
})
