import type { ErrorCode, Scope } from "@hamlet/contract"
import type { TestUser } from "../support/api.ts"

/** Who asks: a user, or a visitor without a token. */
export type Viewer = TestUser | undefined

export type Privacy = "public" | "unlisted" | "private"
export type ValType = "http" | "script" | "interval" | "email"

export interface ModelVersion {
  readonly version: number
  readonly code: string
  readonly type: ValType
  readonly readme: string | null
  /** The vals that the code imports, as `username/name` in lower case. */
  readonly imports: readonly string[]
  /**
   * The imported vals of other people that were there when the version was saved: it goes on
   * importing them, also under other names.
   */
  readonly pins: ReadonlyMap<string, ModelVal>
  createdAt: string
}

/**
 * A val. What the server makes up (ids, times, names of vals without one) is taken over from its
 * answers.
 */
export interface ModelVal {
  id: string
  name: string
  readonly owner: TestUser
  privacy: Privacy
  /** In order; the last is the current one. Those that were deleted are missing. */
  versions: ModelVersion[]
  versionLast: number
  createdAt: string
  /** The val that it is a copy of, and the version; the val may be gone. */
  readonly origin?: { readonly val: ModelVal; readonly version: number }
}

export interface ModelComment {
  id: string
  readonly comment: string
  readonly author: TestUser
  readonly val: ModelVal
  createdAt: string
}

export interface ModelToken {
  id: string
  readonly name: string
  readonly owner: TestUser
  readonly scopes: readonly Scope[]
  readonly expiresAt: string | null
  text: string
  createdAt: string
}

export interface ModelSecret {
  readonly name: string
  readonly owner: TestUser
  hosts: readonly string[] | null
}

/** The fact that `from` imports `to`, and the span of time in which that came to be. */
export interface ModelLink {
  readonly from: ModelVal
  readonly to: ModelVal
  readonly earliest: number
  readonly latest: number
}

/** Everything there is, in plain lists, oldest first. */
export interface Model {
  readonly users: readonly TestUser[]
  vals: ModelVal[]
  /** The ids of all vals there ever were, and of one that there never was. */
  readonly valIds: string[]
  likes: { readonly user: TestUser; readonly val: ModelVal }[]
  comments: ModelComment[]
  readonly commentIds: string[]
  links: ModelLink[]
  tokens: ModelToken[]
  /** With those that were revoked. */
  readonly allTokens: ModelToken[]
  secrets: ModelSecret[]
}

const unknownId = "01890000-0000-7000-8000-000000000000"

export function createModel(users: readonly TestUser[], tokens: readonly ModelToken[]): Model {
  return {
    users,
    vals: [],
    valIds: [unknownId],
    likes: [],
    comments: [],
    commentIds: [unknownId],
    links: [],
    tokens: [...tokens],
    allTokens: [...tokens],
    secrets: [],
  }
}

/** What a request comes to: something, or a refusal. */
export type Outcome<Value = undefined> = Done<Value> | Refusal

export interface Done<Value> {
  readonly status: number
  readonly code?: undefined
  readonly value: Value
}

export interface Refusal {
  readonly status: number
  readonly code: ErrorCode
}

export function done<Value>(status: number, value: Value): Done<Value> {
  return { status, value }
}

export function refuse(status: number, code: ErrorCode): Refusal {
  return { status, code }
}

/** The current version. */
export function currentOf(val: ModelVal): ModelVersion {
  const last = val.versions.at(-1)
  if (!last) throw new Error(`the model has lost the versions of ${val.name}`)
  return last
}

/** Whether the viewer may know of the val, given its address. */
export function canSee(val: ModelVal, viewer: Viewer): boolean {
  return val.privacy !== "private" || val.owner === viewer
}

/** Whether the viewer may find the val in a list. */
export function isListed(val: ModelVal, viewer: Viewer): boolean {
  return val.privacy === "public" || val.owner === viewer
}

/** The val that a path names, as far as the viewer may know of it. */
export function findVal(model: Model, viewer: Viewer, id: string): ModelVal | undefined {
  return model.vals.find((val) => val.id === id && canSee(val, viewer))
}

/** The user's val of that name, ignoring case. */
export function findByName(model: Model, username: string, name: string): ModelVal | undefined {
  return model.vals.find(
    (val) => addressOf(val.owner.username, val.name) === addressOf(username, name),
  )
}

/** What imports name a val by. */
export function addressOf(username: string, name: string): string {
  return `${username}/${name}`.toLowerCase()
}

/** Whether the current version of `from` imports `to`. No val is a reference to itself. */
function doesImport(from: ModelVal, to: ModelVal): boolean {
  const { imports, pins } = currentOf(from)
  const address = addressOf(to.owner.username, to.name)
  return (
    from !== to && imports.some((one) => (pins.has(one) ? pins.get(one) === to : one === address))
  )
}

/** What a version that the owner saves now is pinned to. */
export function findPins(
  model: Model,
  owner: TestUser,
  imports: readonly string[],
): ReadonlyMap<string, ModelVal> {
  const pins = new Map<string, ModelVal>()
  for (const address of imports) {
    const val = model.vals.find((one) => addressOf(one.owner.username, one.name) === address)
    if (val && val.owner !== owner && val.privacy !== "private") pins.set(address, val)
  }
  return pins
}

/** How many likes the val has. */
export function countLikes(model: Model, val: ModelVal): number {
  return model.likes.filter((like) => like.val === val).length
}

/** How many public vals import this one: hidden vals must not count. */
export function countReferences(model: Model, val: ModelVal): number {
  return model.vals.filter((other) => other.privacy === "public" && doesImport(other, val)).length
}

/** How many public vals are copies of this one. */
export function countForks(model: Model, val: ModelVal): number {
  return model.vals.filter(({ privacy, origin }) => privacy === "public" && origin?.val === val)
    .length
}

/** The original of a fork, if the viewer may know of it. */
export function findOrigin(model: Model, val: ModelVal, viewer: Viewer): ModelVal["origin"] {
  const { origin } = val
  if (!origin || !model.vals.includes(origin.val)) return undefined
  const { privacy, owner } = origin.val
  const isKnown = privacy === "public" || (privacy === "unlisted" && val.owner === viewer)
  return isKnown || owner === viewer ? origin : undefined
}

/**
 * Brings the links up to date after something that happened in that span of time. Those that were
 * there before stay as they are.
 */
export function relink(model: Model, earliest: number, latest: number): void {
  const links: ModelLink[] = []
  for (const from of model.vals) {
    for (const to of model.vals) {
      if (!doesImport(from, to)) continue
      links.push(
        model.links.find((link) => link.from === from && link.to === to) ?? {
          from,
          to,
          earliest,
          latest,
        },
      )
    }
  }
  model.links = links
}
