import { afterAll, beforeAll, expect, test } from "bun:test"
import { describeEachDatabase, type TestDatabase } from "../../../test/support/databases.ts"
import { addUser } from "../../../test/support/users.ts"
import { type Privacy, rightsOn, type Viewer } from "../../domain/access/rights.ts"
import type { Role } from "../../domain/access/roles.ts"
import { createValStore } from "../vals/vals.ts"
import { isListed, isVisible } from "./visibility.ts"

const privacies: readonly Privacy[] = ["public", "unlisted", "private"]
const roles: readonly (Role | undefined)[] = [undefined, "viewer", "member", "owner"]
const ownerCount = 5

interface Placed {
  readonly id: string
  readonly ownerId: string
  readonly privacy: Privacy
}

describeEachDatabase("the rule of access as SQL", (open) => {
  let database: TestDatabase
  let owners: readonly string[]
  const vals: Placed[] = []

  beforeAll(async () => {
    database = await open()
    const names = Array.from({ length: ownerCount }, (_, index) => `owner${index}`)
    owners = await Promise.all(names.map((name) => addUser(database.db, name)))
    const store = createValStore(database.db)
    for (const ownerId of owners)
      for (const privacy of privacies) {
        const id = Bun.randomUUIDv7()
        const val = { id, ownerId, ownerName: "x", name: privacy, privacy, readme: null }
        const source = { code: "1", imports: [] }
        await store.create({ ...val, type: "script", source }, 1_000)
        vals.push({ id, ownerId, privacy })
      }
  })
  afterAll(() => database.close())

  /** Every combination of roles in all owners, and no viewer. */
  const listViewers = (): readonly (Viewer | undefined)[] => [
    undefined,
    ...Array.from({ length: roles.length ** ownerCount }, (_, number) => ({
      roles: new Map(
        owners.flatMap((ownerId, index) => {
          const role = roles[Math.floor(number / roles.length ** index) % roles.length]
          return role ? [[ownerId, role] as const] : []
        }),
      ),
    })),
  ]

  test("agrees with the rule in every world of five owners, their roles and privacies", async () => {
    const { db } = database
    const find = async (condition: ReturnType<typeof isVisible>) =>
      (await db.read<{ id: string }>`select v.id from vals v where ${condition}`).map(
        ({ id }) => id,
      )
    let worlds = 0
    for (const viewer of listViewers()) {
      const [visible, listed] = [
        await find(isVisible(db.dialect, viewer)),
        await find(isListed(db.dialect, "v", viewer)),
      ]
      const expected = (isIn: (val: Placed) => boolean) => vals.filter(isIn).map(({ id }) => id)
      expect(visible.sort()).toEqual(expected((val) => rightsOn(val, viewer).see).sort())
      const isListedVal = (val: Placed) => val.privacy === "public" || rightsOn(val, viewer).inspect
      expect(listed.sort()).toEqual(expected(isListedVal).sort())
      worlds += vals.length
    }
    expect(worlds).toBeGreaterThan(10_000)
  })
})
