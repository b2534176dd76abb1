import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type Candidates, raw, sql } from "@hamlet/database"
import fc from "fast-check"
import { describeEachDatabase, type TestDatabase } from "../../../test/support/databases.ts"
import { addUser } from "../../../test/support/users.ts"
import type { Privacy } from "../../domain/access/rights.ts"
import { createValStore } from "../vals/vals.ts"
import { findSearchIndex } from "./find-search-index.ts"
import { foldText } from "./fold-text.ts"
import {
  byRank,
  findIndexed,
  type Hit,
  hitsByIds,
  hitsByNamePrefix,
  hitsInOrder,
  type Pattern,
} from "./search-hits.ts"

describe("byRank", () => {
  const hit: fc.Arbitrary<Hit> = fc.record({
    id: fc.uuid({ version: 7 }),
    likeCount: fc.nat(2),
    createdAt: fc.constantFrom(9, 10, 100),
    isName: fc.boolean(),
  })
  const hits = fc.uniqueArray(hit, { selector: ({ id }) => id })

  test("puts hits in the name first, then the most liked, then the newest, then the highest id", () => {
    const toKey = ({ isName, likeCount, createdAt, id }: Hit) =>
      [Number(isName), likeCount, Number(createdAt).toString().padStart(5, "0"), id].join(" ")
    fc.assert(
      fc.property(hits, (some) => {
        const keys = some.toSorted(byRank).map(toKey)
        expect(keys).toEqual(keys.toSorted().reverse())
      }),
    )
  })

  test("sorts to the same order from any order", () => {
    fc.assert(
      fc.property(hits, (some) => {
        for (const left of some)
          for (const right of some)
            if (left !== right)
              expect(Math.sign(byRank(left, right))).toBe(-Math.sign(byRank(right, left)))
      }),
    )
  })
})

interface Placed {
  readonly id: string
  readonly name: string
  readonly code: string
  readonly readme: string | null
  readonly privacy: Privacy
  readonly likes: number
  readonly at: number
}

describeEachDatabase("search hits", (open) => {
  let database: TestDatabase
  let vals: readonly Placed[]

  beforeAll(async () => {
    database = await open()
    const ownerId = await addUser(database.db, "ada")
    vals = names.map((name, index) => ({
      id: Bun.randomUUIDv7(),
      name,
      code: index % 3 === 0 ? "const Needle = 1" : "const hay = 1",
      readme: index % 5 === 0 ? "a 100% needle" : null,
      privacy: index % 7 === 6 ? "private" : "public",
      likes: index % 4,
      at: 1000 + (index % 3),
    }))
    const store = createValStore(database.db)
    const source = (code: string) => ({ code, imports: [] })
    await Promise.all(
      vals.map(({ at, likes, code, ...val }) =>
        store.create(
          { ...val, ownerId, ownerName: "ada", type: "script", source: source(code) },
          at,
        ),
      ),
    )
    await database.db.write(function* () {
      for (const { id, likes } of vals)
        yield sql`update vals set like_count = ${likes} where id = ${id}`
    })
  })

  afterAll(() => database.close())

  // Errors are likely at the end of a range of names: after "z", "9" and "_", and between them.
  const names = [
    "a",
    "A9",
    "a_",
    "a_b",
    "aa",
    "Az",
    "aza",
    "b",
    "b9",
    "b9a",
    "b_9",
    "ba",
    "needle",
    "aNeedle",
    "Needle9",
    "needle_",
    "z",
    "zz",
    "zzz",
    "z9",
    "z_",
    "nee",
  ]
  const ranked = (some: readonly Placed[]) =>
    some.toSorted(
      (left, right) =>
        right.likes - left.likes || right.at - left.at || (left.id < right.id ? 1 : -1),
    )
  const shown = () => vals.filter(({ privacy }) => privacy === "public")
  const has = (text: string | null, query: string) => text?.toLowerCase().includes(query) ?? false
  const inName = (val: Placed, query: string) => has(val.name, query)
  const inBody = (val: Placed, query: string) => has(val.code, query) || has(val.readme, query)
  const anywhere = (query: string): Pattern => ({
    name: `%${foldText(query)}%`,
    body: foldText(query),
    indexed: foldText(query),
    prefix: undefined,
  })
  const namesOf = (hits: readonly Hit[]) =>
    hits.map(({ id, isName }) => [vals.find((val) => val.id === id)?.name, isName])
  const index = () => findSearchIndex(database.db.dialect)
  const find = async (candidates: Candidates) => {
    const hits = await database.db.openSearch("test").find<Hit>(candidates)
    return hits.toSorted((left, right) =>
      byRank({ ...left, isName: false }, { ...right, isName: false }),
    )
  }

  test("hitsInOrder returns the hits among the best ranked of a part, in order, and marks those in the name", async () => {
    for (const rowsMax of [0, 1, 5, 100]) {
      for (const [part, some] of [
        ["privacy = 'public'", shown()],
        ["privacy <> 'public'", vals.filter((val) => !shown().includes(val))],
      ] as const) {
        const found = namesOf(
          await find(hitsInOrder(index(), anywhere("needle"), raw(part), rowsMax)),
        )
        const expected = ranked(some)
          .slice(0, rowsMax)
          .filter((val) => inName(val, "needle") || inBody(val, "needle"))
        expect(found).toEqual(expected.map((val) => [val.name, inName(val, "needle")]))
      }
    }
  })

  test("hitsInOrder compares only the columns of the pattern", async () => {
    const only = (pattern: Partial<Pattern>): Pattern => ({
      name: undefined,
      body: undefined,
      indexed: undefined,
      prefix: undefined,
      ...pattern,
    })
    const inNames = namesOf(
      await find(hitsInOrder(index(), only({ name: "b%" }), raw("privacy = 'public'"), 100)),
    )
    expect(inNames).toEqual(
      ranked(shown())
        .filter(({ name }) => /^b/i.test(name))
        .map(({ name }) => [name, true]),
    )
    const inBodies = namesOf(
      await find(
        hitsInOrder(index(), only({ body: foldText("100%") }), raw("privacy = 'public'"), 100),
      ),
    )
    expect(inBodies).toEqual(
      ranked(shown())
        .filter(({ readme }) => readme !== null)
        .map(({ name }) => [name, false]),
    )
  })

  test("hitsByNamePrefix returns exactly the public vals whose name begins with it, ignoring case", async () => {
    const prefixes = new Set(
      names.flatMap((name) => [
        name.toLowerCase(),
        name.slice(0, 2).toLowerCase(),
        name.slice(0, 1).toLowerCase(),
      ]),
    )
    for (const prefix of [...prefixes, "c", "0", "_", "zzzz", "az_"]) {
      const found = await database.db.read<{ valId: string }>(hitsByNamePrefix(prefix, 100))
      const expected = shown().filter(({ name }) => name.toLowerCase().startsWith(prefix))
      expect([prefix, found.map(({ valId }) => valId).sort()]).toEqual([
        prefix,
        expected.map(({ id }) => id).sort(),
      ])
    }
    expect(await database.db.read(hitsByNamePrefix("a", 2))).toHaveLength(2)
  })

  test("hitsByIds returns the best ranked of the hits in names", async () => {
    const found = ranked(shown().filter((val) => inName(val, "needle")))
    for (const wanted of [1, 2, 100]) {
      const ids = findIndexed(index(), "name", foldText("needle"), 1000)
      expect(namesOf(await find(hitsByIds(ids, anywhere("needle"), wanted, 1)))).toEqual(
        found.slice(0, wanted).map(({ name }) => [name, true]),
      )
    }
  })

  test("hitsByIds returns the best ranked of the hits in code and readme, without the hits in names", async () => {
    const found = ranked(shown().filter((val) => inBody(val, "needle") && !inName(val, "needle")))
    for (const wanted of [1, 3, 100]) {
      const ids = findIndexed(index(), "body", foldText("needle"), 1000)
      expect(namesOf(await find(hitsByIds(ids, anywhere("needle"), wanted, 0)))).toEqual(
        found.slice(0, wanted).map(({ name }) => [name, false]),
      )
    }
  })

  test("hitsByIds returns only public vals, even if the index returns others", async () => {
    const ids = { ids: sql`select key, val_id from search_texts`, check: undefined }
    const found = namesOf(
      await find(hitsByIds(ids, { ...anywhere("nothing"), name: undefined }, 100, 0)),
    )
    expect(found).toEqual(ranked(shown()).map(({ name }) => [name, false]))
  })
})
