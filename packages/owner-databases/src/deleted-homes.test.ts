import { expect, test } from "bun:test"
import type { DatabaseHome } from "./owner-databases.ts"
import { describeEachHome } from "./testing/database-homes.ts"

describeEachHome("OwnerDatabases", (open) => {
  /** Homes that are deleted after so many checks. */
  const untilCheck = (count: number) => {
    const checked: DatabaseHome[] = []
    const exists = async (home: DatabaseHome) => checked.push(home) < count
    return { checked, homes: { exists } }
  }

  for (const valId of [undefined, Bun.randomUUIDv7()]) {
    const home = valId === undefined ? "a user" : "a val"

    const moments = [
      ["creates no database for", "", 1],
      ["removes what it has created for", " meanwhile", 2],
    ] as const
    for (const [does, when, checks] of moments)
      test(`run ${does} ${home} that was deleted${when}`, async () => {
        const { checked, homes } = untilCheck(checks)
        await using databases = await open({ homes })
        const owner = databases.owner(undefined, valId)
        expect(await owner.execute("create table t (a)")).toEqual({ kind: "gone" })
        expect(checked).toHaveLength(checks)
        expect(await databases.pool.sizeOf(owner.id)).toBe(0)
      })

    test(`run asks about ${home} only when it creates the database`, async () => {
      const { checked, homes } = untilCheck(3)
      await using databases = await open({ homes })
      const owner = databases.owner(undefined, valId)
      await owner.execute("create table t (a)")
      expect(await owner.rows("select count(*) from t")).toEqual([[0]])
      expect(checked).toHaveLength(2)
    })
  }
})
