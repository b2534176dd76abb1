import {
  canSee,
  done,
  findVal,
  type Model,
  type ModelComment,
  type Outcome,
  refuse,
  type Viewer,
} from "./model.ts"

/** PUT /v1/vals/{val_id}/like: liking twice is liking once. */
export function like(model: Model, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(model, caller, id)
  if (!val) return refuse(404, "val_not_found")
  if (!model.likes.some((one) => one.user === caller && one.val === val))
    model.likes.push({ user: caller, val })
  return done(204, undefined)
}

/** DELETE /v1/vals/{val_id}/like */
export function unlike(model: Model, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(model, caller, id)
  if (!val) return refuse(404, "val_not_found")
  model.likes = model.likes.filter((one) => one.user !== caller || one.val !== val)
  return done(204, undefined)
}

/** POST /v1/vals/{val_id}/comments */
export function addComment(
  model: Model,
  caller: Viewer,
  id: string,
  text: string,
): Outcome<ModelComment> {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(model, caller, id)
  if (!val) return refuse(404, "val_not_found")
  const comment: ModelComment = { id: "", comment: text, author: caller, val, createdAt: "" }
  model.comments.push(comment)
  return done(201, comment)
}

/**
 * DELETE /v1/comments/{comment_id}: its author may, and the val's owner; on a val that is hidden
 * from them it does not exist.
 */
export function deleteComment(model: Model, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const comment = model.comments.find((one) => one.id === id)
  if (!comment || !canSee(comment.val, caller)) return refuse(404, "comment_not_found")
  if (comment.author !== caller && comment.val.owner !== caller) return refuse(403, "not_owner")
  model.comments = model.comments.filter((one) => one !== comment)
  return done(204, undefined)
}
