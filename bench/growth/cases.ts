import type { RouteName } from "@hamlet/contract"
import { busySlots, importingSlot, publicSlot, talkedAboutSlot } from "../seed/pattern.ts"
import { rareNeighbours } from "../seed/words.ts"
import { eventsBegin, eventsMs, type World } from "../seed/world.ts"

/** A request whose cost must not depend on the data of other users. */
export interface Case {
  readonly route: RouteName
  /** Distinguishes it from other requests to the route. */
  readonly label: string
  /** Sent without a token. */
  readonly isAnonymous?: boolean
  /** An absolute time limit, instead of a limit on the ratio. */
  readonly msMax?: number
  /** The time is only reported, without a limit. */
  readonly isInformation?: boolean
  /** A change that is sent before each request, and not measured; `count` is 0 for the first one. */
  change?(asker: Asker, count: number): { readonly path: string; readonly body: unknown }
  path(asker: Asker): string
}

/** The user who sends the requests, in one world. */
export class Asker {
  readonly #world: World
  readonly user: number

  constructor(world: World, user: number) {
    this.#world = world
    this.user = user
  }

  get id(): string {
    return this.#idOf(this.user)
  }

  get neighbourId(): string {
    return this.#idOf(this.#before)
  }

  val(slot: number): string {
    return this.#world.valIds[slot * this.#world.users + this.user] ?? ""
  }

  neighboursVal(slot: number): string {
    return this.#world.valIds[slot * this.#world.users + this.#before] ?? ""
  }

  /** The user whose busy vals this user has run. */
  get #before(): number {
    return (this.user + this.#world.users - 1) % this.#world.users
  }

  #idOf(user: number): string {
    return this.#world.userIds[user] ?? ""
  }
}

const busySlot = busySlots[0] ?? 0
const middle = `since=${new Date(eventsBegin + eventsMs / 4).toISOString()}&until=${new Date(eventsBegin + (3 * eventsMs) / 4).toISOString()}`

const valCases: readonly Case[] = [
  { route: "listVals", label: "", path: () => "/v1/vals" },
  { route: "listVals", label: "without a token", isAnonymous: true, path: () => "/v1/vals" },
  ...["public", "unlisted", "private"].map(
    (privacy): Case => ({
      route: "listVals",
      label: privacy,
      path: () => `/v1/vals?privacy=${privacy}`,
    }),
  ),
  { route: "listVals", label: "own", path: (asker) => `/v1/vals?userId=${asker.id}` },
  {
    route: "listVals",
    label: "of another",
    path: (asker) => `/v1/vals?userId=${asker.neighbourId}`,
  },
  { route: "listUserVals", label: "own", path: (asker) => `/v1/users/${asker.id}/vals` },
  {
    route: "listUserVals",
    label: "of another",
    path: (asker) => `/v1/users/${asker.neighbourId}/vals`,
  },
  { route: "listMyVals", label: "", path: () => "/v1/me/vals" },
  {
    route: "listForks",
    label: "",
    path: (asker) => `/v1/vals/${asker.val(publicSlot(3))}/forks`,
  },
  {
    route: "listVersions",
    label: "",
    path: (asker) => `/v1/vals/${asker.val(publicSlot(3))}/versions`,
  },
  {
    route: "listHistory",
    label: "",
    path: (asker) => `/v1/vals/${asker.val(publicSlot(3))}/history`,
  },
  { route: "listFolders", label: "", path: () => "/v2/vals" },
  { route: "listMyFolders", label: "", path: () => "/v2/me/vals" },
  {
    route: "listBranches",
    label: "",
    path: (asker) => `/v2/vals/${asker.val(publicSlot(3))}/branches`,
  },
  {
    route: "listFiles",
    label: "",
    path: (asker) => `/v2/vals/${asker.val(publicSlot(3))}/files?path=&recursive=true`,
  },
]

const runCases: readonly Case[] = [
  ...[
    "",
    "error=true",
    "error=false",
    "source=api",
    "source=http",
    "source=interval,email,ui",
    "error=true&source=api",
    middle,
  ].map(
    (query): Case => ({
      route: "listMyRuns",
      label: query === middle ? "since and until" : query,
      path: () => `/v1/me/runs?${query}`,
    }),
  ),
  ...["", "error=true", "source=api", middle].map(
    (query): Case => ({
      route: "listValRuns",
      label: query === middle ? "since and until" : query,
      path: (asker) => `/v1/vals/${asker.val(busySlot)}/runs?${query}`,
    }),
  ),
  {
    route: "listValRuns",
    label: "of another's val",
    path: (asker) => `/v1/vals/${asker.neighboursVal(busySlot)}/runs`,
  },
  { route: "listTraces", label: "", path: () => "/v1/telemetry/traces" },
  {
    route: "listTraces",
    label: "by their end, of a val",
    path: (asker) => `/v1/telemetry/traces?order_by=end_time&branch_ids=${asker.val(busySlot)}`,
  },
  { route: "listTelemetryLogs", label: "", path: () => "/v1/telemetry/logs" },
]

const socialCases: readonly Case[] = [
  { route: "listMyLikes", label: "", path: () => "/v1/me/likes" },
  ...["any", "given", "received"].map(
    (kind): Case => ({
      route: "listMyComments",
      label: kind,
      path: () => `/v1/me/comments?relationship=${kind}`,
    }),
  ),
  { route: "listMyComments", label: "since and until", path: () => `/v1/me/comments?${middle}` },
  { route: "listMyReferences", label: "", path: () => "/v1/me/references" },
  {
    route: "listMyReferences",
    label: "since and until",
    path: () => `/v1/me/references?${middle}`,
  },
  {
    route: "listComments",
    label: "",
    path: (asker) => `/v1/vals/${asker.val(talkedAboutSlot)}/comments`,
  },
  {
    route: "listValReferences",
    label: "",
    path: (asker) => `/v1/vals/${asker.val(talkedAboutSlot)}/references`,
  },
  {
    route: "listValDependencies",
    label: "",
    path: (asker) => `/v1/vals/${asker.val(importingSlot)}/dependencies`,
  },
  { route: "listTokens", label: "", path: () => "/v1/me/tokens" },
  { route: "listSecrets", label: "", path: () => "/v1/me/secrets" },
]

const searchMsMax = 200

const searchCases: readonly Case[] = [
  search("zanzibarExpress", "a word, 100 hits"),
  search("quokka.hop(7) =>", "code, 10 hits"),
  search("thylacine", "a word, 1 hit"),
  search("nowhere to be found", "no hit"),
  search("xylophone", "a name, 20 hits"),
  search("zq", "two letters that begin a name, 10 hits"),
  { ...search("zanzibarExpress", "a word, 100 hits, without a token"), isAnonymous: true },
  { ...search("export", "a word in every val"), msMax: searchMsMax },
  { ...search("=>", "two signs in many vals"), msMax: searchMsMax },
  // A trigram index is bad at these: the server limits the work and may find only some of the hits.
  { ...search(rareNeighbours, "two frequent words side by side, 50 hits"), isInformation: true },
  { ...search("@@", "two signs, 10 hits"), isInformation: true },
  { ...search("playlist", "a word in some vals"), isInformation: true },
]

function search(text: string, label: string): Case {
  return {
    route: "searchVals",
    label,
    path: () => `/v1/search/vals?query=${encodeURIComponent(text)}`,
  }
}

const filesMax = 1_000
const filesMsMax = 20
const folderSlot = publicSlot(55)

/**
 * Each time another version, as no other request has read its list yet. The val has code, and may have
 * a readme.
 */
const folderCase: Case = {
  route: "listFiles",
  label: `${filesMax.toLocaleString("en")} files, of a version that is new`,
  msMax: filesMsMax,
  change: (asker, count) => ({
    path: `/v1/vals/${asker.val(folderSlot)}/files`,
    body: {
      changes: Array.from({ length: count === 0 ? filesMax - 2 : 1 }, (_, index) => ({
        path: `folder${index % 20}/file${index}.txt`,
        content: `${count} of ${index}`,
      })),
    },
  }),
  path: (asker) => `/v2/vals/${asker.val(folderSlot)}/files?path=&recursive=true&limit=100`,
}

/** Lists without rows in the seeded world, or for administrators only. */
export const unmeasured: ReadonlySet<RouteName> = new Set([
  "listMySchedules",
  "listNotifications",
  "listWebhooks",
  "listDeliveries",
  "listMyEmails",
  "listValSecrets",
  "listSessions",
  "listIdentities",
  "listAuthorizations",
  "listUsers",
  "listInvitations",
  "listAuditEntries",
  "listNodes",
  "listOrgs",
  "listOrganisations",
  "listOrgMembers",
  "listOrgInvitations",
  "listMyMemberships",
  "listEnvironmentVariables",
  "getBranchDifference",
])

/** The first page of every other list of the API, with its filters, and searches. */
export const cases: readonly Case[] = [
  ...valCases,
  ...runCases,
  ...socialCases,
  ...searchCases,
  folderCase,
]
