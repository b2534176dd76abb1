import fc from "fast-check"
import {
  type Actor,
  actorOf,
  anyViewer,
  pickMostly,
  pickVal,
  slot,
  viewerOf,
} from "./arbitraries.ts"
import { checkOutcome, checkRecord } from "./check.ts"
import { type Command, change, command } from "./command.ts"
import { addComment, deleteComment, like, unlike } from "./social-rules.ts"
import { viewComment } from "./views.ts"

let lastLikeAt = 0

export const likeCommand: fc.Arbitrary<Command> = fc
  .record({ val: slot, by: anyViewer, isTakenBack: fc.constantFrom(false, false, true) })
  .map(({ val, by, isTakenBack }) =>
    command(
      `${isTakenBack ? "unlike" : "like"} ${JSON.stringify({ val, by })}`,
      async (world, api) => {
        const id = pickVal(world, val)
        const caller = viewerOf(world, by)
        const outcome = (isTakenBack ? unlike : like)(world, caller, id)
        // The times of likes are in no answer, so two in one millisecond would leave open which was
        // the latest.
        while (Date.now() <= lastLikeAt) await Bun.sleep(0)
        checkOutcome(
          await api.call(isTakenBack ? "DELETE" : "PUT", `/v1/vals/${id}/like`, { as: caller }),
          outcome,
        )
        lastLikeAt = Date.now()
      },
    ),
  )

export const commentCommand: fc.Arbitrary<Command> = fc
  .record({ val: slot, by: anyViewer, text: fc.constantFrom("Nice", "**Why?**", "ø\n😀") })
  .map(({ val, by, text }) =>
    command(`comment ${JSON.stringify({ val, by, text })}`, async (world, api) => {
      const id = pickVal(world, val)
      const caller = viewerOf(world, by)
      const outcome = addComment(world, caller, id, text)
      const answer = await api.call("POST", `/v1/vals/${id}/comments`, {
        as: caller,
        body: { comment: text },
      })
      checkOutcome(answer, outcome)
      if (outcome.code !== undefined) return
      outcome.value.id = answer.json.id
      outcome.value.createdAt = answer.json.createdAt
      world.commentIds.push(outcome.value.id)
      checkRecord(answer.json, viewComment(outcome.value))
    }),
  )

export const deleteCommentCommand: fc.Arbitrary<Command> = fc
  .record({
    comment: slot,
    by: fc.constantFrom("author", "author", "owner", "owner", 0, 1, 2, undefined),
  })
  .map(({ comment, by }) =>
    command(`delete comment ${JSON.stringify({ comment, by })}`, async (world, api) => {
      const now = world.comments.map((one) => one.id)
      const id = pickMostly(now, world.commentIds, comment)
      const known = world.comments.find((one) => one.id === id)
      const caller =
        by === "author"
          ? (known?.author ?? world.users[0])
          : actorOf(world, by as Actor, known?.val.id ?? "")
      const outcome = deleteComment(world, caller, id)
      checkOutcome(
        await change(world, () => api.call("DELETE", `/v1/comments/${id}`, { as: caller })),
        outcome,
      )
    }),
  )
