import { expect, test } from "bun:test"
import { describeEachDatabase } from "../../../test/support/databases.ts"
import { addUser } from "../../../test/support/users.ts"
import { asOwner } from "../../domain/access/rights.ts"
import { createLikeStore } from "../likes/likes.ts"
import { createOwnValStore } from "./own-vals.ts"
import { createValStore } from "./vals.ts"
import { createVersionStore } from "./versions.ts"

const page = { limit: 10, offset: 0 }

describeEachDatabase("lists of vals", (open) => {
  test("contain the whole code and readme, however long", async () => {
    const { db } = await open()
    const ownerId = await addUser(db, "ada")
    const vals = createValStore(db)
    const texts: readonly [code: string, readme: string | null][] = [
      ["short", null],
      ["short", "short"],
      ["é".repeat(100_000), null],
      ["short", "é".repeat(60_000)],
      ["x".repeat(250_000), "y".repeat(60_000)],
    ]
    for (const [index, [code, readme]] of texts.entries()) {
      const id = Bun.randomUUIDv7()
      const val = {
        id,
        ownerId,
        ownerName: "ada",
        name: `val${index}`,
        readme,
        privacy: "public",
        type: "script",
      } as const
      await vals.create({ ...val, source: { code, imports: [] } }, index)
      await createLikeStore(db).add(ownerId, id, index, () => {})
    }
    const toTexts = (list: {
      readonly items: readonly { readonly code: string; readonly readme: string | null }[]
    }) => list.items.map(({ code, readme }) => [code, readme])
    const expected = texts.toReversed()
    const filter = { ownerId: undefined, privacy: undefined }
    expect(toTexts(await vals.list(asOwner(ownerId), filter, page))).toEqual(expected)
    expect(toTexts(await createLikeStore(db).list(ownerId, asOwner(ownerId), page))).toEqual(
      expected,
    )
    const own = {
      query: undefined,
      privacy: undefined,
      type: undefined,
      sort: "created",
      order: undefined,
    } as const
    expect(toTexts(await createOwnValStore(db).list(ownerId, own, page))).toEqual(expected)
    expect(toTexts(await vals.search(asOwner(ownerId), "val", page))).toEqual(expected)
    for (const { id, code } of (await vals.list(asOwner(ownerId), filter, page)).items)
      expect(
        (await createVersionStore(db).list(id, page)).items.map((version) => version.code),
      ).toEqual([code])
  })
})
