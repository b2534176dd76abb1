import {
  canSee,
  done,
  findVal,
  type ModelComment,
  type Outcome,
  refuse,
  type Viewer,
  type World,
} from "./world.ts"

/** PUT /v1/vals/{val_id}/like: liking twice is liking once. */
export function like(world: World, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(world, caller, id)
  if (!val) return refuse(404, "val_not_found")
  if (!world.likes.some((one) => one.user === caller && one.val === val))
    world.likes.push({ user: caller, val })
  return done(204, undefined)
}

/** DELETE /v1/vals/{val_id}/like */
export function unlike(world: World, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(world, caller, id)
  if (!val) return refuse(404, "val_not_found")
  world.likes = world.likes.filter((one) => one.user !== caller || one.val !== val)
  return done(204, undefined)
}

/** POST /v1/vals/{val_id}/comments */
export function addComment(
  world: World,
  caller: Viewer,
  id: string,
  text: string,
): Outcome<ModelComment> {
  if (!caller) return refuse(401, "unauthenticated")
  const val = findVal(world, caller, id)
  if (!val) return refuse(404, "val_not_found")
  const comment: ModelComment = { id: "", comment: text, author: caller, val, createdAt: "" }
  world.comments.push(comment)
  return done(201, comment)
}

/**
 * DELETE /v1/comments/{comment_id}: its author may, and the val's owner; on a val that is hidden
 * from them it does not exist.
 */
export function deleteComment(world: World, caller: Viewer, id: string): Outcome {
  if (!caller) return refuse(401, "unauthenticated")
  const comment = world.comments.find((one) => one.id === id)
  if (!comment || !canSee(comment.val, caller)) return refuse(404, "comment_not_found")
  if (comment.author !== caller && comment.val.owner !== caller) return refuse(403, "not_owner")
  world.comments = world.comments.filter((one) => one !== comment)
  return done(204, undefined)
}
