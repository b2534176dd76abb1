import { route } from "../route.ts"
import { createCommentBody, pageQuery, periodQuery } from "../schemas/inputs.ts"
import { comment, like, page, reference } from "../schemas/records.ts"

/** Likes, comments and references. */
export const socialRoutes = {
  getLike: route("Likes", "get /v1/vals/{val_id}/like", {
    summary: "Whether the caller likes a val",
    scope: "val:read",
    valAccess: "see",
    responses: { 200: like },
  }),
  likeVal: route("Likes", "put /v1/vals/{val_id}/like", {
    summary: "Like a val; repeating it has no effect",
    scope: "val:write",
    valAccess: "see",
    responses: { 204: null },
  }),
  unlikeVal: route("Likes", "delete /v1/vals/{val_id}/like", {
    summary: "Remove a like",
    scope: "val:write",
    valAccess: "see",
    responses: { 204: null },
  }),
  listComments: route("Comments", "get /v1/vals/{val_id}/comments", {
    summary: "Comments on a val, newest first",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: pageQuery,
    responses: { 200: page(comment) },
  }),
  createComment: route("Comments", "post /v1/vals/{val_id}/comments", {
    summary: "Comment on a val, in Markdown",
    scope: "val:write",
    valAccess: "see",
    body: createCommentBody,
    responses: { 201: comment },
  }),
  deleteComment: route("Comments", "delete /v1/comments/{comment_id}", {
    summary: "Delete one's own comment, or a comment on one's own val",
    scope: "val:write",
    responses: { 204: null },
    errors: ["not_owner"],
  }),
  listValReferences: route("References", "get /v1/vals/{val_id}/references", {
    summary: "Vals that import this one",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: periodQuery,
    responses: { 200: page(reference) },
  }),
  listValDependencies: route("References", "get /v1/vals/{val_id}/dependencies", {
    summary: "Vals that this one imports",
    auth: "optional",
    scope: "val:read",
    valAccess: "see",
    query: periodQuery,
    responses: { 200: page(reference) },
  }),
}
