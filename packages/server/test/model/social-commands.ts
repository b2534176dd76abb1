import { waitUntil } from "@hamlet/kit/testing"
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
      async (model, api) => {
        const id = pickVal(model, val)
        const caller = viewerOf(model, by)
        const outcome = (isTakenBack ? unlike : like)(model, caller, id)
        // The times of likes are in no answer, so two in one millisecond would leave open which was
        // the latest.
        await waitUntil(() => Date.now() > lastLikeAt)
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
    command(`comment ${JSON.stringify({ val, by, text })}`, async (model, api) => {
      const id = pickVal(model, val)
      const caller = viewerOf(model, by)
      const outcome = addComment(model, caller, id, text)
      const response = await api.call("POST", `/v1/vals/${id}/comments`, {
        as: caller,
        body: { comment: text },
      })
      checkOutcome(response, outcome)
      if (outcome.code !== undefined) return
      outcome.value.id = response.json.id
      outcome.value.createdAt = response.json.createdAt
      model.commentIds.push(outcome.value.id)
      checkRecord(response.json, viewComment(outcome.value))
    }),
  )

export const deleteCommentCommand: fc.Arbitrary<Command> = fc
  .record({
    comment: slot,
    by: fc.constantFrom("author", "author", "owner", "owner", 0, 1, 2, undefined),
  })
  .map(({ comment, by }) =>
    command(`delete comment ${JSON.stringify({ comment, by })}`, async (model, api) => {
      const now = model.comments.map((one) => one.id)
      const id = pickMostly(now, model.commentIds, comment)
      const known = model.comments.find((one) => one.id === id)
      const caller =
        by === "author"
          ? (known?.author ?? model.users[0])
          : actorOf(model, by as Actor, known?.val.id ?? "")
      const outcome = deleteComment(model, caller, id)
      checkOutcome(
        await change(model, () => api.call("DELETE", `/v1/comments/${id}`, { as: caller })),
        outcome,
      )
    }),
  )
