import {
  canSee,
  countLikes,
  currentOf,
  done,
  findVal,
  isListed,
  type Model,
  type ModelLink,
  type ModelVal,
  type Outcome,
  type Privacy,
  refuse,
  type Viewer,
} from "./model.ts"
import { viewComment, viewReference, viewSecret, viewToken, viewVal, viewVersion } from "./views.ts"

/** A list as a viewer must see it. */
export interface ExpectedList {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly outcome: Outcome<readonly object[]>
  /**
   * The key of the time that the list is ordered by, where that time is the server's own and so the
   * order cannot be known beforehand.
   */
  readonly orderedBy?: "referencedAt"
  /** The key of the time that `since` and `until` mean. */
  readonly period?: "createdAt" | "referencedAt"
}

/** GET /v1/vals */
export function listVals(
  model: Model,
  viewer: Viewer,
  filter: { readonly userId?: string; readonly privacy?: Privacy } = {},
): ExpectedList {
  const found = model.vals.filter(
    (val) =>
      isListed(val, viewer) &&
      (filter.userId === undefined || val.owner.id === filter.userId) &&
      (filter.privacy === undefined || val.privacy === filter.privacy),
  )
  return {
    path: "/v1/vals",
    query: { ...filter },
    outcome: done(
      200,
      newestFirst(found).map((val) => viewVal(model, viewer, val)),
    ),
  }
}

/** GET /v1/users/{user_id}/vals */
export function listUserVals(model: Model, viewer: Viewer, userId: string): ExpectedList {
  return { ...listVals(model, viewer, { userId }), query: {}, path: `/v1/users/${userId}/vals` }
}

/** GET /v1/search/vals: hits in the name first, then the most liked, then the newest. */
export function search(model: Model, viewer: Viewer, query: string): ExpectedList {
  const has = (text: string | null) => text?.toLowerCase().includes(query.toLowerCase()) ?? false
  const found = model.vals.filter(
    (val) =>
      isListed(val, viewer) &&
      (has(val.name) || has(currentOf(val).code) || has(currentOf(val).readme)),
  )
  const findFile = (val: ModelVal) => {
    if (has(val.name)) return null
    return has(currentOf(val).code) ? "main.tsx" : "README.md"
  }
  const ranked = newestFirst(found).sort(
    (one, other) =>
      Number(has(other.name)) - Number(has(one.name)) ||
      countLikes(model, other) - countLikes(model, one),
  )
  return {
    path: "/v1/search/vals",
    query: { query },
    outcome: done(
      200,
      ranked.map((val) => ({ ...viewVal(model, viewer, val), file: findFile(val) })),
    ),
  }
}

/** GET /v1/vals/{val_id}/versions */
export function listVersions(model: Model, viewer: Viewer, id: string): ExpectedList {
  return ofVal(model, viewer, id, "versions", (val) =>
    [...val.versions].reverse().map((version) => viewVersion(val, version)),
  )
}

/** GET /v1/vals/{val_id}/comments */
export function listComments(model: Model, viewer: Viewer, id: string): ExpectedList {
  return ofVal(model, viewer, id, "comments", (val) =>
    newestFirst(model.comments.filter((comment) => comment.val === val)).map(viewComment),
  )
}

/** GET /v1/vals/{val_id}/forks */
export function listForks(model: Model, viewer: Viewer, id: string): ExpectedList {
  return ofVal(model, viewer, id, "forks", (val) =>
    newestFirst(model.vals.filter((one) => one.origin?.val === val && isListed(one, viewer))).map(
      (one) => viewVal(model, viewer, one),
    ),
  )
}

/** GET /v1/vals/{val_id}/references */
export function listReferences(model: Model, viewer: Viewer, id: string): ExpectedList {
  const list = ofVal(model, viewer, id, "references", (val) =>
    viewLinks(model, (link) => link.to === val && isListed(link.from, viewer)),
  )
  return { ...list, orderedBy: "referencedAt", period: "referencedAt" }
}

/** GET /v1/vals/{val_id}/dependencies */
export function listDependencies(model: Model, viewer: Viewer, id: string): ExpectedList {
  const list = ofVal(model, viewer, id, "dependencies", (val) =>
    viewLinks(model, (link) => link.from === val && isListed(link.to, viewer)),
  )
  return { ...list, orderedBy: "referencedAt", period: "referencedAt" }
}

/** GET /v1/me/likes: the latest like first; what the viewer may no longer see is left out. */
export function listMyLikes(model: Model, viewer: Viewer): ExpectedList {
  const liked = model.likes
    .filter((like) => like.user === viewer && canSee(like.val, viewer))
    .reverse()
  return ofMe(
    viewer,
    "likes",
    liked.map((like) => viewVal(model, viewer, like.val)),
  )
}

/** GET /v1/me/comments: received are those of others on the viewer's vals. */
export function listMyComments(
  model: Model,
  viewer: Viewer,
  relationship?: "any" | "given" | "received",
): ExpectedList {
  const found = model.comments.filter((comment) => {
    const isGiven = comment.author === viewer
    const isReceived = !isGiven && comment.val.owner === viewer
    const isMeant =
      relationship === "given"
        ? isGiven
        : relationship === "received"
          ? isReceived
          : isGiven || isReceived
    return isMeant && canSee(comment.val, viewer)
  })
  const list = ofMe(viewer, "comments", newestFirst(found).map(viewComment))
  return { ...list, query: relationship === undefined ? {} : { relationship }, period: "createdAt" }
}

/** GET /v1/me/references */
export function listMyReferences(model: Model, viewer: Viewer): ExpectedList {
  const links = viewLinks(model, (link) => link.to.owner === viewer && isListed(link.from, viewer))
  return { ...ofMe(viewer, "references", links), orderedBy: "referencedAt", period: "referencedAt" }
}

/** GET /v1/me/tokens */
export function listTokens(model: Model, viewer: Viewer): ExpectedList {
  return ofMe(
    viewer,
    "tokens",
    newestFirst(model.tokens.filter((token) => token.owner === viewer)).map(viewToken),
  )
}

/** GET /v1/me/secrets */
export function listSecrets(model: Model, viewer: Viewer): ExpectedList {
  const own = model.secrets.filter((secret) => secret.owner === viewer).reverse()
  return ofMe(viewer, "secrets", own.map(viewSecret))
}

/** GET /v1/me/runs: nothing runs here. */
export function listMyRuns(viewer: Viewer): ExpectedList {
  return ofMe(viewer, "runs", [])
}

function ofMe(viewer: Viewer, name: string, items: readonly object[]): ExpectedList {
  return {
    path: `/v1/me/${name}`,
    outcome: viewer ? done(200, items) : refuse(401, "unauthenticated"),
  }
}

function ofVal(
  model: Model,
  viewer: Viewer,
  id: string,
  name: string,
  list: (val: ModelVal) => readonly object[],
): ExpectedList {
  const val = findVal(model, viewer, id)
  return {
    path: `/v1/vals/${id}/${name}`,
    outcome: val ? done(200, list(val)) : refuse(404, "val_not_found"),
  }
}

/**
 * The order that lists promise. Two things may be made in one millisecond; ids begin with the time
 * and count up within it, so they tell which was later.
 */
function newestFirst<Item extends { readonly createdAt: string; readonly id: string }>(
  items: readonly Item[],
): Item[] {
  const key = (item: Item) => `${item.createdAt} ${item.id}`
  return [...items].sort((one, other) => (key(one) < key(other) ? 1 : -1))
}

function viewLinks(model: Model, isMeant: (link: ModelLink) => boolean): readonly object[] {
  return model.links.filter(isMeant).map((link) => viewReference(link.from, link.to))
}
