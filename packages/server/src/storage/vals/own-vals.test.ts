import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import fc from "fast-check"
import { insertValRows } from "../../../test/support/data/insert-val-rows.ts"
import { describeEachDatabase, type TestDatabase } from "../../../test/support/databases.ts"
import { addUser } from "../../../test/support/users.ts"
import type { Privacy } from "../../domain/access/rights.ts"
import type { OwnValFilter, OwnValSort } from "../../domain/vals/val-lists.ts"
import type { ValType } from "../../domain/vals/vals.ts"
import { createOwnValStore } from "./own-vals.ts"

const privacies: readonly Privacy[] = ["public", "unlisted", "private"]
const types: readonly ValType[] = ["http", "script", "interval", "email"]
const sorts: readonly OwnValSort[] = ["created", "updated", "name", "likes", "run"]

interface Placed {
  readonly id: string
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly created: number
  readonly updated: number
  readonly likes: number
  readonly run: number | null
}

/** Few values of each kind, so that ties are frequent. */
function toPlaced(index: number): Placed {
  const name = ["Fetch", "fetch_all", "a_b", "aXb", "Zebra", "zoo"][index % 6] + String(index)
  const run = index % 3 === 0 ? null : 5 + ((index * 3) % 4)
  const times = {
    created: 1000 + (index % 5),
    updated: 2000 + ((index * 7) % 6),
    likes: (index * 5) % 3,
    run,
  }
  return {
    id: Bun.randomUUIDv7(),
    name,
    privacy: privacies[index % 3] ?? "public",
    type: types[index % 4] ?? "http",
    ...times,
  }
}

describeEachDatabase("createOwnValStore", (open) => {
  let database: TestDatabase
  let ada: string
  const placed = Array.from({ length: 40 }, (_, index) => toPlaced(index))

  beforeAll(async () => {
    database = await open()
    ada = await addUser(database.db, "ada")
    const bob = await addUser(database.db, "bob")
    await database.db.write(function* () {
      for (const val of [...placed].reverse()) yield* insertVal(ada, val)
      yield* insertVal(bob, { ...toPlaced(1), created: 9999, likes: 99 })
    })
  })

  afterAll(() => database.close())

  const filters: fc.Arbitrary<OwnValFilter> = fc.record(
    {
      query: fc.constantFrom("", "fetch", "FETCH", "fetch_", "A_B", "Z", "_", "%", "\\", "1", "é"),
      privacy: fc.constantFrom(...privacies),
      type: fc.constantFrom(...types),
      sort: fc.constantFrom(...sorts),
      order: fc.constantFrom("asc" as const, "desc" as const),
    },
    { requiredKeys: ["sort"] },
  )
  const pages = fc.record({
    limit: fc.integer({ min: 1, max: 45 }),
    offset: fc.oneof(fc.constant(0), fc.nat(45)),
  })

  test("lists on every page what sorting and filtering all vals of the owner gives", async () => {
    const store = createOwnValStore(database.db)
    await fc.assert(
      fc.asyncProperty(filters, pages, async (filter, page) => {
        const expected = expectedOf(placed, filter).map(({ name }) => name)
        const { items, hasMore } = await store.list(ada, filter, page)
        expect(items.map(({ name }) => name)).toEqual(
          expected.slice(page.offset, page.offset + page.limit),
        )
        expect(hasMore).toBe(expected.length > page.offset + page.limit)
      }),
      { numRuns: 300 },
    )
  })

  test("sorts the newest vals where no index has the order, and all where one has", async () => {
    const store = createOwnValStore(database.db, { sortedMax: 10 })
    const newest = expectedOf(placed, { sort: "created" }).slice(0, 10)
    for (const sort of sorts) {
      const { items } = await store.list(ada, { sort }, { limit: 100, offset: 0 })
      const sorted = expectedOf(sort === "created" || sort === "name" ? placed : newest, { sort })
      expect([sort, items.map(({ name }) => name)]).toEqual([sort, sorted.map(({ name }) => name)])
    }
  })
})

function* insertVal(ownerId: string, val: Placed) {
  const { id, name, privacy, type, created: createdAt, updated: updatedAt } = val
  yield* insertValRows({ id, ownerId, name, privacy, type, createdAt, updatedAt })
  yield sql`update vals set like_count = ${val.likes}, run_started_at = ${val.run} where id = ${id}`
}

function expectedOf(
  vals: readonly Placed[],
  { query = "", privacy, type, sort, order }: OwnValFilter,
): readonly Placed[] {
  const isDown = (order ?? (sort === "name" ? "asc" : "desc")) === "desc"
  const keyOf = (val: Placed) => (sort === "name" ? val.name.toLowerCase() : val[sort])
  const compare = (one: Placed, other: Placed): number => {
    const [left, right] = [keyOf(one), keyOf(other)]
    if (left === right) return (one.id < other.id ? -1 : 1) * (isDown ? -1 : 1)
    if (left === null || right === null) return left === null ? 1 : -1
    return (left < right ? -1 : 1) * (isDown ? -1 : 1)
  }
  return vals
    .filter((val) => val.name.toLowerCase().includes(query.toLowerCase()))
    .filter(
      (val) =>
        (privacy === undefined || val.privacy === privacy) &&
        (type === undefined || val.type === type),
    )
    .toSorted(compare)
}
