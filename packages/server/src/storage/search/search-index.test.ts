import { Database as Connection } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@hamlet/database"
import { openSqlite } from "@hamlet/database/sqlite"
import fc from "fast-check"
import { addUser } from "../../../test/support/users.ts"
import type { ValChange, ValStore } from "../../domain/vals/vals.ts"
import { migrations } from "../migrations/index.ts"
import { createValStore } from "../vals/vals.ts"

const valsMax = 3
// Short pieces of few characters: removed trigrams often remain elsewhere.
const code = fc
  .array(fc.constantFrom("ab", "abc", "b", "😀", " = ", "\n"), { maxLength: 12 })
  .map((pieces) => pieces.join(""))
const change: fc.Arbitrary<ValChange> = fc.oneof(
  { weight: 6, arbitrary: code.map((text) => ({ source: { code: text, imports: [] } })) },
  { weight: 1, arbitrary: code.map((readme) => ({ readme })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("public", "private", "unlisted").map((privacy) => ({ privacy })),
  },
)
const step = fc.record({
  val: fc.nat(valsMax - 1),
  change: fc.option(change, { nil: undefined, freq: 12 }),
})
/** Groups of changes that arrive together and share a transaction. */
const story = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 6,
})

const folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
const path = join(folder, "hamlet.db")
const db = openSqlite(path)

beforeAll(() => migrate(db, migrations))
afterAll(async () => {
  await db.stop()
  rmSync(folder, { recursive: true })
})

describe("sqliteSearchIndex", () => {
  test("contains exactly the trigrams of the public texts after any changes in one transaction", async () => {
    const vals = createValStore(db)
    const owner = await addUser(db, "ada")
    await fc.assert(
      fc.asyncProperty(story, async (groups) => {
        const ids = await Promise.all(
          Array.from({ length: valsMax }, (_, number) => create(vals, owner, number)),
        )
        for (const steps of groups) {
          await Promise.all(steps.map((one) => apply(vals, ids[one.val] ?? "", one.change)))
          expect(indexedTrigrams()).toEqual(publicTrigrams())
        }
        await Promise.all(ids.map((id) => apply(vals, id, undefined)))
      }),
      { numRuns: 40 },
    )
  })

  test("contains them also when vals are changed or deleted in the transaction that creates them", async () => {
    const vals = createValStore(db)
    const owner = await addUser(db, "bob")
    const makeIds = () => Array.from({ length: 80 }, () => Bun.randomUUIDv7())
    const make = (ids: readonly string[]) =>
      ids.map((id, number) => create(vals, owner, number, id))
    const [some, others] = [makeIds(), makeIds()]
    const code = { source: { code: "xyz", imports: [] }, privacy: "public" } as const
    await Promise.all([...make(some), ...some.slice(0, 20).map((id) => apply(vals, id, code))])
    expect(indexedTrigrams()).toEqual(publicTrigrams())
    // This one makes the shared transaction fail, so that each is repeated alone.
    await Promise.all([
      ...make(others),
      ...others.slice(10, 15).map((id) => apply(vals, id, undefined)),
    ])
    expect(indexedTrigrams()).toEqual(publicTrigrams())
    const hits = await vals.search(undefined, "xyz", { limit: 100, offset: 0 })
    expect(hits.items.map(({ id }) => id).sort()).toEqual(some.slice(0, 20).sort())
  })
})

async function create(
  vals: ValStore,
  ownerId: string,
  number: number,
  id: string = Bun.randomUUIDv7(),
): Promise<string> {
  const rest = {
    type: "script",
    readme: null,
    source: { code: `abc ${number}`, imports: [] },
  } as const
  await vals.create(
    {
      id,
      ownerId,
      ownerName: "ada",
      name: `val_${id.replaceAll("-", "")}`,
      privacy: number === 0 ? "private" : "public",
      ...rest,
    },
    1,
  )
  return id
}

/** A deleted val stays deleted. */
async function apply(vals: ValStore, id: string, wanted: ValChange | undefined): Promise<void> {
  if (wanted) await vals.change(id, wanted, () => {}, 2)
  else await vals.delete(id, () => {})
}

/** Each trigram of the index with the number of its texts. */
function indexedTrigrams(): readonly unknown[] {
  return ask((connection) => {
    connection.run("create virtual table temp.words using fts5vocab (main, search_body, row)")
    return connection.query("select term, doc from temp.words order by term").values()
  })
}

function publicTrigrams(): readonly unknown[] {
  const bodies = ask(
    (connection) =>
      connection.query("select body from search_texts where is_public = 1").values() as [string][],
  )
  const counts = new Map<string, number>()
  for (const [body] of bodies) {
    const characters = [...body]
    const trigrams = new Set(
      characters.slice(2).map((_, index) => characters.slice(index, index + 3).join("")),
    )
    for (const trigram of trigrams) counts.set(trigram, (counts.get(trigram) ?? 0) + 1)
  }
  return [...counts].sort(([left], [right]) =>
    Buffer.compare(Buffer.from(left), Buffer.from(right)),
  )
}

function ask<T>(question: (connection: Connection) => T): T {
  const connection = new Connection(path)
  try {
    return question(connection)
  } finally {
    connection.close()
  }
}
