import { expect, test } from "bun:test"
import { openRules, type TestRules } from "../../../test/support/rules.ts"
import { createCommentStore } from "../../storage/comments/comments.ts"
import { createLikeStore } from "../../storage/likes/likes.ts"
import type { Caller } from "../access/caller.ts"
import { createLikes } from "../likes/likes.ts"
import { createComments } from "./comments.ts"

const page = { limit: 10, offset: 0 }

/** A public val of ada's, and rules for which it becomes private right before the write. */
async function openRace(rules: TestRules) {
  const stores = {
    comments: createCommentStore(rules.db),
    likes: createLikeStore(rules.db),
  }
  const { vals } = rules.nouns
  const [ada, bob] = [await rules.addCaller("ada"), await rules.addCaller("bob")]
  const val = await vals.create(ada, { name: "hello", code: "1", privacy: "public" })
  const hide = () => vals.change(ada, val.id, { privacy: "private" }, undefined)
  const before = <Args extends readonly unknown[], Result>(
    write: (...args: Args) => Promise<Result>,
  ) => {
    return async (...args: Args) => {
      await hide()
      return write(...args)
    }
  }
  const late = {
    comments: createComments(
      {
        ...stores.comments,
        add: before(stores.comments.add),
        delete: before(stores.comments.delete),
      },
      vals,
      rules.clock,
    ),
    likes: createLikes({ ...stores.likes, add: before(stores.likes.add) }, vals, rules.clock),
  }
  return { stores, late, val, bob, comments: createComments(stores.comments, vals, rules.clock) }
}

const actions: [string, (race: Awaited<ReturnType<typeof openRace>>, bob: Caller) => unknown][] = [
  ["comments.add", ({ late, val }, bob) => late.comments.add(bob, val.id, "hi")],
  ["likes.add", ({ late, val }, bob) => late.likes.add(bob, val.id)],
]

for (const [name, act] of actions)
  test(`${name} decides inside its transaction whether the val is visible`, async () => {
    await using rules = await openRules()
    const race = await openRace(rules)
    await expect(act(race, race.bob)).rejects.toMatchObject({ code: "val_not_found" })
    expect((await race.stores.comments.listOfVal(race.val.id, page)).items).toEqual([])
    expect(await race.stores.likes.has(race.bob.ownerId, race.val.id)).toBe(false)
  })

test("comments.delete decides inside its transaction whether the comment is visible", async () => {
  await using rules = await openRules()
  const { comments, stores, late, val, bob } = await openRace(rules)
  const { id } = await comments.add(bob, val.id, "hi")
  await expect(late.comments.delete(bob, id)).rejects.toMatchObject({ code: "comment_not_found" })
  expect((await stores.comments.listOfVal(val.id, page)).items).toHaveLength(1)
})
