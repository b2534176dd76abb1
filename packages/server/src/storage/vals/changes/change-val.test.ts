import { afterEach, beforeEach, expect, test } from "bun:test"
import { raw, rows, sql } from "@hamlet/database"
import { describeEachDatabase, type TestDatabase } from "../../../../test/support/databases.ts"
import { addUser } from "../../../../test/support/users.ts"
import type { ValChange, ValStore } from "../../../domain/vals/vals.ts"
import { createValStore } from "../vals.ts"

const anyone = () => {}
const page = { limit: 100, offset: 0 }
const toChange = (code: string): ValChange => ({ source: { code, imports: [] } })

describeEachDatabase("changeVal", (open) => {
  let database: TestDatabase
  let ownerId: string
  let vals: ValStore

  beforeEach(async () => {
    database = await open()
    ownerId = await addUser(database.db, "ada")
    vals = createValStore(database.db)
  })

  afterEach(() => database.close())

  async function addVal(name: string): Promise<string> {
    const id = Bun.randomUUIDv7()
    const source = { code: `old ${name}`, imports: [] }
    const settings = { name, privacy: "public", type: "http", readme: null } as const
    await vals.create({ id, ownerId, ownerName: "ada", ...settings, source }, 1_000)
    return id
  }

  const findNames = async (query: string) =>
    (await vals.search(undefined, query, page)).items.map(({ name }) => name)

  test("saves the code of many vals at the same time, each as its next version", async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, (_, n) => addVal(`val${n}`)))
    const toCode = (n: number) => `const number${n}x = "\\"{},${n} é 🦕"`

    const saved = await Promise.all(
      ids.map((id, n) => vals.change(id, toChange(toCode(n)), anyone, 2_000)),
    )

    for (const [n, id] of ids.entries()) {
      const val = { version: 2, code: toCode(n) }
      expect(saved[n]).toMatchObject({ isNewVersion: true, isNewCode: true, val })
      expect(await vals.findById(id)).toEqual(saved[n]?.val)
    }
    expect(await findNames("number7x")).toEqual(["val7"])
    expect(await findNames("old val7")).toEqual([])
  })

  test("makes saves of one val at the same time versions one after the other", async () => {
    const id = await addVal("busy")
    const numbers = Array.from({ length: 10 }, (_, n) => n)

    const saved = await Promise.all(
      numbers.map((n) => vals.change(id, toChange(`code ${n}`), anyone, 2_000)),
    )

    expect(saved.map((one) => one?.val.version)).toEqual(numbers.map((n) => n + 2))
  })

  test("fails alone where the code cannot be stored, the rule refuses it or the val is gone", async () => {
    const names = ["nul", "refused", "gone", "good"]
    const ids = await Promise.all(names.map((name) => addVal(name)))
    const [nul = "", refused = "", gone = "", good = ""] = ids
    const refuse = () => {
      throw new Error("refused")
    }
    await vals.delete(gone, anyone)

    const results = await Promise.allSettled([
      vals.change(nul, toChange("a\0b"), anyone, 2_000),
      vals.change(refused, toChange("b"), refuse, 2_000),
      vals.change(gone, toChange("c"), anyone, 2_000),
      vals.change(good, toChange("d"), anyone, 2_000),
    ])

    expect(results.map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
      "fulfilled",
      "fulfilled",
    ])
    const stored = await Promise.all(ids.map((id) => vals.findById(id)))
    expect(stored.map((val) => val?.version)).toEqual([1, 1, undefined, 2])
  })

  test("has PostgreSQL plan the statements of a save once for a connection", async () => {
    if (!database.url) return
    const [id = ""] = await Promise.all(Array.from({ length: 50 }, (_, n) => addVal(`val${n}`)))
    await database.db.write(function* () {
      for (const table of ["vals", "branches", "versions", "states"]) yield raw(`analyze ${table}`)
    })
    // Each connection plans a statement five times before it compares these plans with a general one.
    for (let n = 0; n < 60; n++) await vals.change(id, toChange(`code ${n}`), anyone, 2_000 + n)
    const planned = await database.db.write(() =>
      rows<{ statement: string; customPlans: number; genericPlans: number }>(
        sql`select statement, custom_plans, generic_plans from pg_prepared_statements
          where custom_plans + generic_plans > 10`,
      ),
    )
    expect(planned.length).toBeGreaterThan(5)
    for (const one of planned) expect(one.customPlans, one.statement).toBeLessThan(6)
  })
})
