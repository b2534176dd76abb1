import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { done, json } from "../response/api-response.ts"
import { listOf } from "../response/page.ts"
import { toCommentView, toReferenceView } from "../response/views.ts"

/** Likes, comments and references. */
export function socialHandlers({ likes, comments, references, api: { links } }: Nouns) {
  return {
    getLike: async ({ caller, params }) =>
      json(200, { liked: await likes.has(caller, params.val_id) }),
    likeVal: done(({ caller, params }) => likes.add(caller, params.val_id)),
    unlikeVal: done(({ caller, params }) => likes.remove(caller, params.val_id)),
    listComments: listOf(
      links,
      ({ caller, params, query }) => comments.list(caller, params.val_id, query),
      toCommentView,
    ),
    createComment: async ({ caller, params, body }) =>
      json(201, toCommentView(await comments.add(caller, params.val_id, body.comment))),
    deleteComment: done(({ caller, params }) => comments.delete(caller, params.comment_id)),
    listValReferences: listOf(
      links,
      ({ caller, params, query }) =>
        references.listOfVal(caller, params.val_id, "to", query, query),
      toReferenceView,
    ),
    listValDependencies: listOf(
      links,
      ({ caller, params, query }) =>
        references.listOfVal(caller, params.val_id, "from", query, query),
      toReferenceView,
    ),
  } satisfies Partial<Handlers>
}
