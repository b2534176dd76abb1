import { afterAll, beforeAll, expect, test } from "bun:test"
import { sql } from "@hamlet/database"
import { describeEachDatabase, type TestDatabase } from "../../../test/support/databases.ts"
import { addUser } from "../../../test/support/users.ts"
import type { Privacy } from "../../domain/access/rights.ts"
import { asOwner } from "../../domain/access/rights.ts"
import type { Val } from "../../domain/vals/vals.ts"
import { createValStore, selectVals } from "./vals.ts"

const privacies: readonly Privacy[] = ["public", "unlisted", "private"]
const limits = [1, 2, 5, 100]
const offsets = [0, 1, 4, 17, 100]

interface Placed {
  readonly id: string
  readonly ownerId: string
  readonly privacy: Privacy
  readonly createdAt: number
}

describeEachDatabase("selectVals", (open) => {
  let database: TestDatabase
  let people: readonly string[]
  let vals: readonly Placed[]

  beforeAll(async () => {
    database = await open()
    people = await Promise.all(
      ["ada", "bob", "eve"].map((username) => addUser(database.db, username)),
    )
    // Many at the same time: then the id decides the order, not the order of the inserts.
    const places = Array.from({ length: 36 }, (_, index) => ({
      id: Bun.randomUUIDv7(),
      ownerId: people[index % 2] ?? "",
      privacy: privacies[Math.floor(index / 2) % 3] ?? "public",
      createdAt: 1000 + (index % 4),
    }))
    await Promise.all(places.toSorted(() => Math.random() - 0.5).map(addVal))
    vals = places
  })

  afterAll(() => database.close())

  async function addVal({ id, ownerId, privacy, createdAt }: Placed): Promise<void> {
    const val = {
      id,
      ownerId,
      ownerName: "x",
      name: `v${id.replaceAll("-", "")}`,
      privacy,
      type: "script" as const,
      readme: null,
    }
    await createValStore(database.db).create(
      { ...val, source: { code: "1", imports: [] } },
      createdAt,
    )
  }

  /** The vals that the viewer may find, newest first. */
  function expected(
    viewerId: string | undefined,
    filter: { ownerId?: string | undefined; privacy?: Privacy | undefined },
  ): readonly string[] {
    return vals
      .filter((val) => val.privacy === "public" || val.ownerId === viewerId)
      .filter((val) => filter.ownerId === undefined || val.ownerId === filter.ownerId)
      .filter((val) => filter.privacy === undefined || val.privacy === filter.privacy)
      .toSorted((left, right) => right.createdAt - left.createdAt || (left.id < right.id ? 1 : -1))
      .map(({ id }) => id)
  }

  test("returns for every viewer, filter and page the vals they may find, newest first, and one row more", async () => {
    for (const viewerId of [undefined, ...people]) {
      for (const ownerId of [undefined, ...people, Bun.randomUUIDv7()]) {
        for (const privacy of [undefined, ...privacies]) {
          const all = expected(viewerId, { ownerId, privacy })
          const pages = limits.flatMap((limit) => offsets.map((offset) => ({ limit, offset })))
          const found = await Promise.all(
            pages.map((page) =>
              database.db.read<Val>(
                selectVals(
                  viewerId === undefined ? undefined : asOwner(viewerId),
                  { ownerId, privacy },
                  page,
                ),
              ),
            ),
          )
          for (const [index, { limit, offset }] of pages.entries()) {
            expect(found[index]?.map(({ id }) => id)).toEqual(all.slice(offset, offset + limit + 1))
          }
        }
      }
    }
  })
})

describeEachDatabase("createValStore", (open) => {
  test("findByFile returns the val with that file, and says whether it is the entry file", async () => {
    const { db, close } = await open()
    const store = createValStore(db)
    const [id, other] = [Bun.randomUUIDv7(), Bun.randomUUIDv7()]
    const owner = { ownerId: await addUser(db, "ada"), ownerName: "ada" }
    const source = { code: "1", imports: [] }
    const settings = { name: "hello", privacy: "public", type: "script", readme: null } as const
    await store.create({ id, ...owner, ...settings, source }, 1)
    await db.write(function* () {
      yield sql`insert into files (id, branch_id, path) values (${other}, ${id}, 'other.ts')`
      yield sql`insert into states (branch_id, path, since, file_id, type, content, created_at)
        values (${id}, 'other.ts', 1, ${other}, 'script', '2', 1)`
    })
    const branch = { since: 1, branchId: id, branchName: "main" }
    expect(await store.findByFile(id)).toMatchObject({
      id,
      code: "1",
      file: { id, path: "main.tsx", isEntry: true, ...branch },
    })
    expect(await store.findByFile(other)).toMatchObject({
      id,
      code: "2",
      file: { id: other, path: "other.ts", isEntry: false, ...branch },
    })
    await close()
  })
})
