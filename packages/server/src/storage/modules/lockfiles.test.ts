import { beforeEach, describe, expect, test } from "bun:test"
import { type Database, readClock, type Statement, sql } from "@hamlet/database"
import type { Bundle } from "@hamlet/npm"
import { toBundle } from "@hamlet/sandbox/testing"
import { recording } from "../../../test/plans/recording-database.ts"
import {
  describeEachDatabase,
  openAgain,
  type TestDatabase,
} from "../../../test/support/databases.ts"
import { withClock } from "../../../test/support/fakes/clocked-database.ts"
import type { WrittenPackage } from "../../domain/modules/imports/text-packages.ts"
import type {
  BundleStore,
  LockedImport,
  LockfileClaim,
  LockfileClaims,
  LockfileStore,
  Resolution,
} from "../../domain/modules/lockfiles.ts"
import { toTextHash } from "../../domain/modules/text-hash.ts"
import { createNodeStore } from "../nodes.ts"
import { createValStore } from "../vals/vals.ts"
import { createBundleStore } from "./bundles.ts"
import { createLockfileClaims } from "./lockfile-claims.ts"
import { createLockfileStore } from "./lockfiles.ts"

const ada = "10000000-0000-7000-8000-000000000001"
const bob = "10000000-0000-7000-8000-000000000002"
const idOf = (number: number) => `20000000-0000-7000-8000-${String(number).padStart(12, "0")}`

describeEachDatabase("createLockfileStore", (open) => {
  let database: TestDatabase
  /** The time of the database. */
  let nowMs: number
  /** The database with that time. */
  let clocked: Database
  let locks: LockfileStore
  let claims: LockfileClaims
  let bundles: BundleStore

  beforeEach(async () => {
    database = await open()
    nowMs = 0
    clocked = withClock(database.db, () => nowMs)
    locks = createLockfileStore(clocked)
    claims = await addNode(clocked)
    bundles = createBundleStore(database.db)
    await database.db.write(function* () {
      for (const [id, name] of [
        [ada, "ada"],
        [bob, "bob"],
      ] as const)
        yield sql`insert into users (id, username, username_key, created_at) values (${id}, ${name}, ${name}, 1)`
    })
  })

  /** A val whose first version has a lockfile that is due at that time. */
  async function addVal(
    number: number,
    at: number,
    ownerId = ada,
    isRemote = true,
  ): Promise<string> {
    const val = {
      id: idOf(number),
      ownerId,
      ownerName: ownerId === ada ? "ada" : "bob",
      name: `v${number}`,
      privacy: "private",
    } as const
    const source = { code: `import "npm:x" // ${number}`, imports: [], isRemote }
    nowMs = at
    await createValStore(clocked).create({ ...val, type: "script", readme: null, source }, at)
    return val.id
  }

  /** The claims of a node. */
  async function addNode(db: Database): Promise<LockfileClaims> {
    const id = Bun.randomUUIDv7()
    await createNodeStore(database.db).add({ id, host: "", pid: 1, pidStarted: "" }, 60_000)
    return createLockfileClaims(db, id)
  }

  const claim = async (at: number, held: readonly LockfileClaim[] = [], store = claims) => {
    nowMs = at
    return (await store.claim(1, held))[0]
  }
  const importOf = (error: string | null): LockedImport => ({
    specifier: "npm:x",
    resolved: error === null ? "npm:x@1" : null,
    error,
    entry: 0,
    exports: ["default"],
    places: [{ start: 7, end: 14 }],
  })
  const ready = (bundle: Bundle) => ({
    state: "ready" as const,
    resolution: { imports: [importOf(null)], bundle: bundle.hash } satisfies Resolution,
    bundle,
  })
  const failed = {
    state: "failed" as const,
    resolution: { imports: [importOf("nothing there")], bundle: null } satisfies Resolution,
    bundle: null,
  }

  async function claimed(at: number) {
    const found = await claim(at)
    if (!found) throw new Error("there was nothing to claim")
    return found
  }

  describe("a lockfile", () => {
    test("is created with each version that needs one, and with no other", async () => {
      const [remote, near] = [await addVal(1, 10), await addVal(2, 10, ada, false)]
      expect(await locks.find(remote, 1)).toEqual({
        state: "pending",
        bundle: null,
        updatedAt: 10,
        resolution: null,
        retryAt: 10,
      })
      expect([
        await locks.find(near, 1),
        await locks.findSummary(near, 1),
        await locks.findSummary(remote, 2),
      ]).toEqual([null, null, null])
      const change = (code: string, isRemote: boolean, at: number) =>
        createValStore(database.db).change(
          near,
          { source: { code, imports: [], isRemote } },
          () => {},
          at,
        )
      await change("2", true, 20)
      await change("3", false, 30)
      await change("3", true, 40)
      expect([
        await locks.findSummary(near, 2),
        await locks.findSummary(near, 3),
        await locks.findSummary(near, 4),
      ]).toEqual([{ state: "pending", bundle: null, updatedAt: 20 }, null, null])
    })

    test("is deleted with its version", async () => {
      const id = await addVal(1, 10)
      await locks.findSummary(id, 1)
      await createValStore(database.db).delete(id, () => {})
      expect([await locks.findSummary(id, 1), await locks.find(id, 1)]).toEqual([null, null])
      expect(await claim(50)).toBeUndefined()
    })

    test("can be added once to a version that has none, and not to a missing version", async () => {
      const id = await addVal(1, 10, ada, false)
      await locks.add(id, 1, 20)
      await locks.add(id, 1, 30)
      await locks.add(id, 2, 30)
      expect(await locks.findSummary(id, 1)).toEqual({
        state: "pending",
        bundle: null,
        updatedAt: 20,
      })
      expect(await locks.findSummary(id, 2)).toBeNull()
    })
  })

  describe("claim", () => {
    test("returns the lockfile that has been due longest, one of each owner, until its node is gone", async () => {
      const [later, sooner] = [await addVal(1, 20), await addVal(2, 10)]
      const others = await addVal(3, 30, bob)
      expect(await claim(9)).toBeUndefined()
      const first = await claimed(25)
      expect(first).toEqual({
        id: `${sooner} 1`,
        branchId: sooner,
        version: 1,
        ownerId: ada,
        attempts: 1,
        fence: 1,
      })
      expect(await locks.find(sooner, 1)).toMatchObject({
        state: "pending",
        retryAt: null,
        updatedAt: 10,
      })
      expect(await claim(30, [first])).toMatchObject({ branchId: others, ownerId: bob })
      expect(await claim(30, [first])).toBeUndefined()
      expect(await claim(30)).toMatchObject({ branchId: later })
      await claims.takeOver([])
      expect(await claim(30)).toMatchObject({ branchId: sooner, attempts: 2 })
      expect(await claim(30)).toMatchObject({ branchId: others, attempts: 2 })
    })

    test("uses the clock of the database, however wrong that of the node is that has saved the version", async () => {
      const store = await addNode(database.db)
      const dayMs = 86_400_000
      const now = await readClock(database.db)
      for (const [number, at] of [now + dayMs, now - dayMs].entries()) {
        const source = { code: "import 'npm:x'", imports: [], isRemote: true }
        const val = { id: idOf(number), ownerId: ada, ownerName: "ada", name: `v${number}` }
        await createValStore(database.db).create(
          { ...val, privacy: "private", type: "script", readme: null, source },
          at,
        )
      }
      const found = [...(await store.claim(1, [])), ...(await store.claim(1, []))]
      expect(found.map((one) => one.branchId).sort()).toEqual([idOf(0), idOf(1)])
    })
  })

  describe("settle", () => {
    test("stores the resolution together with the bundle", async () => {
      const [id, bundle] = [
        await addVal(1, 10),
        { ...toBundle(["({ default: 1 })"]), cache: new Uint8Array([1, 2, 3]) },
      ]
      expect(await claims.settle(await claimed(20), ready(bundle), 30)).toBe(true)
      const { resolution } = ready(bundle)
      expect(await locks.find(id, 1)).toEqual({
        state: "ready",
        bundle: bundle.hash,
        updatedAt: 30,
        resolution,
        retryAt: null,
      })
      expect(await locks.findSummary(id, 1)).toEqual({
        state: "ready",
        bundle: bundle.hash,
        updatedAt: 30,
      })
      const found = await bundles.find(bundle.hash)
      const { code, cache } = (await found?.read()) ?? {}
      expect([found?.hash, Buffer.from(code ?? []).toString(), [...(cache ?? [])]]).toEqual([
        bundle.hash,
        Buffer.from(bundle.code).toString(),
        [1, 2, 3],
      ])
      expect(found?.bytes).toBe(bundle.code.length + 3)
      expect(await claim(10_000)).toBeUndefined()
    })

    test("shares a bundle among versions, and keeps its existing cache", async () => {
      const bundle = toBundle(["1"])
      await addVal(1, 10)
      await claims.settle(await claimed(20), ready({ ...bundle, cache: new Uint8Array([1]) }), 30)
      await addVal(2, 10)
      await claims.settle(await claimed(20), ready(bundle), 30)
      const readCache = async () => [
        ...((await (await bundles.find(bundle.hash))?.read())?.cache ?? []),
      ]
      expect(await readCache()).toEqual([1])
      await addVal(3, 10)
      await claims.settle(await claimed(20), ready({ ...bundle, cache: new Uint8Array([2]) }), 30)
      expect(await readCache()).toEqual([2])
    })

    test("does nothing for a claim that was taken over", async () => {
      const id = await addVal(1, 10)
      const first = await claimed(20)
      await claims.takeOver([])
      const second = await claimed(200)
      const bundle = toBundle(["1"])
      expect(await claims.settle(first, ready(bundle), 210)).toBe(false)
      expect([(await locks.find(id, 1))?.state, await bundles.find(bundle.hash)]).toEqual([
        "pending",
        undefined,
      ])
      expect(await claims.settle(second, failed, 220)).toBe(true)
      expect(await claims.settle(second, ready(bundle), 230)).toBe(false)
      await locks.reopen(id, 1, 300)
      expect(await claims.settle(second, ready(bundle), 310)).toBe(false)
      expect((await locks.find(id, 1))?.state).toBe("pending")
    })

    test("does nothing for a deleted version", async () => {
      const id = await addVal(1, 10)
      const mine = await claimed(20)
      await createValStore(database.db).delete(id, () => {})
      expect(await claims.settle(mine, ready(toBundle(["1"])), 30)).toBe(false)
      await claims.postpone(mine, 40, failed, 30)
    })
  })

  describe("postpone", () => {
    test("makes it due again at that time, and stores the result of the attempt", async () => {
      const id = await addVal(1, 10)
      const bundle = toBundle(["1"])
      const resolution = { ...failed.resolution, bundle: bundle.hash }
      await claims.postpone(await claimed(20), 480, { resolution, bundle }, 30)
      const expected = { bundle: bundle.hash, updatedAt: 10, resolution, retryAt: 500 }
      expect(await locks.find(id, 1)).toEqual({ ...expected, state: "pending" })
      expect(await bundles.find(bundle.hash)).toBeDefined()
      expect(await claim(499)).toBeUndefined()
      expect(await claim(500)).toMatchObject({ attempts: 2 })
    })
  })

  test("note stores what is resolved already, for the node that has claimed the lockfile", async () => {
    const id = await addVal(1, 10)
    const mine = await claimed(20)
    const bundle = toBundle(["1"])
    const resolution = { ...failed.resolution, bundle: bundle.hash, isPartial: true as const }
    await claims.note({ ...mine, fence: mine.fence + 1 }, { resolution, bundle }, 30)
    expect(await locks.find(id, 1)).toMatchObject({ bundle: null, resolution: null })
    expect(await bundles.find(bundle.hash)).toBeUndefined()
    await claims.note(mine, { resolution, bundle }, 30)
    expect(await locks.find(id, 1)).toMatchObject({
      state: "pending",
      bundle: bundle.hash,
      resolution,
      retryAt: null,
    })
    expect(await bundles.find(bundle.hash)).toBeDefined()
    expect(await claims.settle(mine, failed, 40)).toBe(true)
  })

  test("reopen makes a failed lockfile pending, and no other", async () => {
    const [broken, fine] = [await addVal(1, 10), await addVal(2, 20)]
    await claims.settle(await claimed(30), failed, 40)
    await claims.settle(await claimed(30), ready(toBundle(["1"])), 40)
    nowMs = 50
    for (const id of [broken, fine]) await locks.reopen(id, 1, 50)
    expect([await locks.findSummary(broken, 1), await locks.findSummary(fine, 1)]).toEqual([
      { state: "pending", bundle: null, updatedAt: 50 },
      expect.objectContaining({ state: "ready", updatedAt: 40 }),
    ])
    expect(await claim(50)).toMatchObject({ branchId: broken, attempts: 1 })
  })

  test("reopen makes a lockfile due that waits for its next attempt, and none that a node resolves", async () => {
    const [waiting, busy] = [await addVal(1, 10), await addVal(2, 20)]
    await claims.postpone(await claimed(30), 5_000, failed, 40)
    const mine = await claimed(30)
    nowMs = 50
    for (const id of [waiting, busy]) await locks.reopen(id, 1, 50)
    expect(await locks.find(waiting, 1)).toMatchObject({ resolution: null, retryAt: 50 })
    expect(await claim(50)).toMatchObject({ branchId: waiting, attempts: 1 })
    expect(await claims.settle(mine, ready(toBundle(["1"])), 60)).toBe(true)
  })

  test("findSummary is up to date whichever node changed the lockfile", async () => {
    const id = await addVal(1, 10)
    expect(await locks.findSummary(id, 1)).toMatchObject({ state: "pending" })
    const other = await openAgain(database)
    const store = await addNode(withClock(other, () => nowMs))
    const mine = await claim(20, [], store)
    if (mine) await store.settle(mine, failed, 30)
    await other.stop()
    expect(await locks.findSummary(id, 1)).toEqual({ state: "failed", bundle: null, updatedAt: 30 })
  })

  test("bundles.find returns the bundle of a hash, and nothing for another", async () => {
    const [one, two] = [toBundle(["1"]), toBundle(["2"])]
    for (const [index, bundle] of [one, two].entries()) {
      await addVal(index + 1, 10)
      await claims.settle(await claimed(20), ready(bundle), 30)
    }
    for (const bundle of [one, two, one]) {
      const { code } = (await (await bundles.find(bundle.hash))?.read()) ?? {}
      expect(Buffer.from(code ?? []).equals(bundle.code)).toBe(true)
    }
    expect(await bundles.find("0".repeat(64))).toBeUndefined()
  })

  test("bundles.find returns the files of packages, which are deleted with the bundle", async () => {
    const archive = new Uint8Array([1, 0, 255])
    const bundle = { ...toBundle(["with files"]), files: { read: async () => archive } }
    const id = await addVal(1, 10)
    await claims.settle(await claimed(20), ready(bundle), 30)
    const found = await bundles.find(bundle.hash)
    expect(new Uint8Array((await found?.files?.read()) ?? [])).toEqual(archive)
    await createValStore(database.db).delete(id, () => {})
    await bundles.purge("", 100, 10)
    expect(await database.db.read(sql`select bundle_hash from bundle_files`)).toEqual([])
    await expect(found?.files?.read()).rejects.toThrow("they were deleted")
  })

  test("a save takes a lockfile over with two statements, and others need none", async () => {
    const statements: string[] = []
    const vals = createValStore(recording(clocked, ({ text }) => statements.push(text)))
    const bundle = toBundle(["1"])
    const id = await addVal(1, 10)
    const place = { text: toTextHash(`import "npm:x" // 1`), start: 7, end: 14 }
    const resolution = {
      imports: [{ ...importOf(null), places: [place] }],
      bundle: bundle.hash,
      files: [["main.tsx", place.text] as const],
    }
    await claims.settle(await claimed(20), { state: "ready", resolution, bundle }, 30)
    const specifier = "npm:x"
    const save = async (code: string, packages: readonly WrittenPackage[] = []) => {
      statements.length = 0
      const source = { code, imports: [], isRemote: packages.length > 0 }
      const listPackages = () => packages
      await vals.change(id, { source: { ...source, listPackages } }, () => {}, 40)
      return statements.filter((text) => /\b(?:from|into) locks\b(?! l where)/.test(text)).length
    }
    expect(await save(`\nimport "npm:x"`, [{ specifier, start: 8, end: 15 }])).toBe(2)
    const taken = await locks.find(id, 2)
    expect(taken).toMatchObject({ state: "ready", bundle: bundle.hash })
    expect(taken?.resolution?.imports[0]?.places).toEqual([
      { text: toTextHash(`\nimport "npm:x"`), start: 8, end: 15 },
    ])
    const withPackages = statements.length
    await save("export default 1")
    expect(await save("export default 2")).toBe(0)
    // PostgreSQL needs fewer still: it saves such code without a transaction.
    expect(statements.length).toBeLessThanOrEqual(withPackages - 2)
    expect(await locks.find(id, 4)).toBeNull()
  })

  test("bundles.find asks once for a bundle, and reads its content when that is needed", async () => {
    const statements: Statement[] = []
    const store = createBundleStore(
      recording(database.db, (statement) => statements.push(statement)),
    )
    const bundle = toBundle(["1"])
    await addVal(1, 10)
    await claims.settle(await claimed(20), ready(bundle), 30)
    for (let count = 0; count < 3; count++) await store.find(bundle.hash)
    expect(statements).toHaveLength(1)
    await (await store.find(bundle.hash))?.read()
    expect(statements).toHaveLength(2)
  })

  test("bundles.find says that a bundle was deleted meanwhile", async () => {
    const bundle = toBundle(["1"])
    const id = await addVal(1, 10)
    await claims.settle(await claimed(20), ready(bundle), 30)
    const found = await bundles.find(bundle.hash)
    await createValStore(database.db).delete(id, () => {})
    await bundles.purge("", 100, 10)
    await expect(found?.read()).rejects.toThrow("it was deleted")
  })

  describe("bundles.purge", () => {
    async function addBundles(count: number) {
      const hashes: string[] = []
      for (let number = 1; number <= count; number++) {
        const bundle = toBundle([String(number)])
        await addVal(number, number)
        await claims.settle(await claimed(1_000), ready(bundle), 100)
        hashes.push(bundle.hash)
      }
      return hashes
    }
    const left = async () =>
      (await database.db.read<{ hash: string }>(sql`select hash from bundles`))
        .map(({ hash }) => hash)
        .sort()

    test("deletes bundles that no version needs, in batches", async () => {
      const hashes = await addBundles(7)
      const gone = [1, 3, 4, 7]
      for (const number of gone) await createValStore(database.db).delete(idOf(number), () => {})
      let position: string | undefined = ""
      let slices = 0
      for (; position !== undefined; slices++) position = await bundles.purge(position, 101, 3)
      expect(slices).toBe(3)
      expect(await left()).toEqual(hashes.filter((_, index) => !gone.includes(index + 1)).sort())
    })

    test("keeps recently written bundles, also when they existed before", async () => {
      const [hash = ""] = await addBundles(1)
      await createValStore(database.db).delete(idOf(1), () => {})
      expect(await bundles.purge("", 100, 10)).toBeUndefined()
      await addVal(2, 200)
      await claims.settle(await claimed(1_000), ready(toBundle(["1"])), 500)
      await createValStore(database.db).delete(idOf(2), () => {})
      await bundles.purge("", 500, 10)
      expect(await left()).toEqual([hash])
      await bundles.purge("", 501, 10)
      expect(await left()).toEqual([])
    })
  })
})
