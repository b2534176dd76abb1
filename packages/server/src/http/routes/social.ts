import { addComment, deleteComment, listComments } from "../../domain/vals/comments.ts"
import { isLiked, likeVal, unlikeVal } from "../../domain/vals/likes.ts"
import { listDependencies, listReferences } from "../../domain/vals/references.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toCommentView, toReferenceView } from "../response/views.ts"

/** Likes, comments and references. */
export function socialHandlers({ vals, api: { links } }: Nouns) {
  return {
    getLike: async ({ caller, params }) =>
      json(200, { liked: await isLiked(vals, caller, params.val_id) }),
    likeVal: async ({ caller, params }) => {
      await likeVal(vals, caller, params.val_id)
      return noContent()
    },
    unlikeVal: async ({ caller, params }) => {
      await unlikeVal(vals, caller, params.val_id)
      return noContent()
    },
    listComments: async ({ caller, params, query, request }) =>
      page(
        links,
        request,
        query,
        await listComments(vals, caller, params.val_id, query),
        toCommentView,
      ),
    createComment: async ({ caller, params, body }) =>
      json(201, toCommentView(await addComment(vals, caller, params.val_id, body.comment))),
    deleteComment: async ({ caller, params }) => {
      await deleteComment(vals, caller, params.comment_id)
      return noContent()
    },
    listValReferences: async ({ caller, params, query, request }) => {
      const period = { since: query.since, until: query.until }
      return page(
        links,
        request,
        query,
        await listReferences(vals, caller, params.val_id, period, query),
        toReferenceView,
      )
    },
    listValDependencies: async ({ caller, params, query, request }) => {
      const period = { since: query.since, until: query.until }
      return page(
        links,
        request,
        query,
        await listDependencies(vals, caller, params.val_id, period, query),
        toReferenceView,
      )
    },
  } satisfies Partial<Handlers>
}
