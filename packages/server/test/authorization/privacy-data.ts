import { expectStatus, type TestApi, type TestUser, testBaseUrl } from "../support/api.ts"
import type { Privacy } from "./rules.ts"
import { toRunRecord } from "./run-record.ts"

/** A val, with words in each of its places that are nowhere else. */
export interface PrivacyVal {
  readonly id: string
  readonly name: string
  readonly owner: TestUser
  readonly privacy: Privacy
  /**
   * Texts that only those may read who may read the val: its id, code, readme, comments and what
   * its runs left.
   */
  readonly marks: readonly string[]
  /** The tag that its content had when it was last public, for those who kept a copy. */
  readonly etags: Readonly<Record<string, string>>
  readonly commentIds: readonly string[]
  readonly runIds: readonly string[]
}

/**
 * Two people who did everything with each other's vals while they could, before some of the vals
 * were hidden.
 */
export interface PrivacyData {
  readonly ada: TestUser
  readonly bob: TestUser
  /** Each imports `bob.lib`, and was liked, commented on and run by Bob if he could see it. */
  readonly adas: Readonly<
    Record<"open" | "unlisted" | "secret" | "closed" | "delisted", PrivacyVal>
  >
  /**
   * `lib` imports nothing; `app` imports all of Ada's; the others, of different privacy, import
   * Ada's `open`.
   */
  readonly bobs: Readonly<Record<"lib" | "app" | "secret" | "closed" | "delisted", PrivacyVal>>
  /** A webhook of each of them, and a delivery of each webhook. */
  readonly webhookIds: readonly string[]
  readonly deliveryIds: readonly string[]
}

/** What a val is at first, and what becomes of it in the end. */
const fates = {
  open: ["public", "public"],
  unlisted: ["unlisted", "unlisted"],
  secret: ["private", "private"],
  closed: ["public", "private"],
  delisted: ["public", "unlisted"],
  lib: ["public", "public"],
  app: ["public", "public"],
} as const satisfies Record<string, readonly [Privacy, Privacy]>

type Kind = keyof typeof fates

/**
 * Creates the data. Ada's vals are liked, commented on, imported and run before any of them is
 * hidden.
 */
export async function createPrivacyData(api: TestApi): Promise<PrivacyData> {
  const ada = await api.addUser("ada")
  const bob = await api.addUser("bob")
  const lib = await createWorldVal(api, bob, "lib", [])
  const adas = {
    open: await createWorldVal(api, ada, "open", [lib]),
    unlisted: await createWorldVal(api, ada, "unlisted", [lib]),
    secret: await createWorldVal(api, ada, "secret", [lib]),
    closed: await createWorldVal(api, ada, "closed", [lib]),
    delisted: await createWorldVal(api, ada, "delisted", [lib]),
  }
  const bobs = {
    lib,
    app: await createWorldVal(api, bob, "app", Object.values(adas)),
    secret: await createWorldVal(api, bob, "secret", [adas.open]),
    closed: await createWorldVal(api, bob, "closed", [adas.open]),
    delisted: await createWorldVal(api, bob, "delisted", [adas.open]),
  }
  const met = { adas: await meet(api, adas, bob), bobs: await meet(api, bobs, ada) }
  const hooks = [await createWebhook(api, ada), await createWebhook(api, bob)]
  return {
    ada,
    bob,
    ...met,
    webhookIds: hooks.map(({ id }) => id),
    deliveryIds: hooks.map(({ deliveryId }) => deliveryId),
  }
}

async function createWebhook(api: TestApi, owner: TestUser) {
  const body = { url: "https://receiver.invalid/", events: ["val.saved", "val.referenced"] }
  const made = await api.call("POST", "/v1/me/webhooks", { as: owner, body })
  const { id } = expectStatus(made, 201).json
  const sent = await api.call("POST", `/v1/me/webhooks/${id}/test`, { as: owner })
  return { id: String(id), deliveryId: String(expectStatus(sent, 202).json.id) }
}

async function createWorldVal(
  api: TestApi,
  owner: TestUser,
  kind: Kind,
  imports: readonly PrivacyVal[],
): Promise<PrivacyVal> {
  const name = `${kind}_of_${owner.username}`
  const marks = [`code_of_${name}`, `readme_of_${name}`, toBlobKey(name)]
  const lines = imports.map((val) => `import "${testBaseUrl}/v/${val.owner.username}/${val.name}"`)
  const [privacy, finalPrivacy] = fates[kind]
  const body = {
    name,
    code: [...lines, `export default "${marks[0]}"`].join("\n"),
    readme: marks[1],
    privacy,
  }
  const { id } = expectStatus(await api.call("POST", "/v1/vals", { as: owner, body }), 200).json
  for (const path of ["/v1/blob/KEY", `/v2/blob/KEY?val_id=${id}`]) {
    const stored = { as: owner, body: `what ${marks[0]} remembers` }
    expectStatus(await api.call("POST", path.replace("KEY", toBlobKey(name)), stored), 201)
  }
  return {
    id,
    name,
    owner,
    privacy: finalPrivacy,
    marks: [id, ...marks],
    etags: {},
    commentIds: [],
    runIds: [],
  }
}

/** The key of what a val remembers, among the blobs of its owner. */
export function toBlobKey(valName: string): string {
  return `blob_of_${valName}`
}

/**
 * Lets the owner and the visitor do what they can with each val, then gives it its final privacy.
 */
async function meet<Key extends Kind>(
  api: TestApi,
  vals: Record<Key, PrivacyVal>,
  visitor: TestUser,
): Promise<Record<Key, PrivacyVal>> {
  const met: [string, PrivacyVal][] = []
  for (const [kind, val] of Object.entries<PrivacyVal>(vals))
    met.push([kind, await meetVal(api, val, kind as Key, visitor)])
  return Object.fromEntries(met) as Record<Key, PrivacyVal>
}

async function meetVal(
  api: TestApi,
  val: PrivacyVal,
  kind: Kind,
  visitor: TestUser,
): Promise<PrivacyVal> {
  const at = `/v1/vals/${val.id}`
  const [privacy, finalPrivacy] = fates[kind]
  const people = privacy === "private" ? [val.owner] : [val.owner, visitor]
  const marks: string[] = []
  const commentIds: string[] = []
  const runIds: string[] = []
  for (const addUser of people) {
    const by = `${val.name}_by_${addUser.username}`
    expectStatus(await api.call("PUT", `${at}/like`, { as: addUser }), 204)
    const comment = expectStatus(
      await api.call("POST", `${at}/comments`, {
        as: addUser,
        body: { comment: `comment_on_${by}` },
      }),
      201,
    ).json
    const run = toRunRecord(api, {
      valId: val.id,
      ownerId: val.owner.id,
      accountId: addUser.id,
      args: [`args_of_${by}`],
    })
    await api.hamlet.stores.runs.record([run])
    marks.push(`comment_on_${by}`, `args_of_${by}`, comment.id, run.id, run.id.replaceAll("-", ""))
    commentIds.push(comment.id)
    runIds.push(run.id)
  }
  const etags = await keepTags(api, val)
  if (finalPrivacy !== privacy)
    expectStatus(await api.call("PUT", at, { as: val.owner, body: { privacy: finalPrivacy } }), 204)
  return { ...val, marks: [...val.marks, ...marks], etags, commentIds, runIds }
}

async function keepTags(api: TestApi, val: PrivacyVal): Promise<Record<string, string>> {
  const module = `/v/${val.owner.username}/${val.name}`
  const paths = [
    `/v1/vals/${val.id}`,
    `/v1/vals/${val.id}/versions/1`,
    `/v1/alias/${val.owner.username}/${val.name}`,
    module,
    `${module}@1`,
  ]
  const tags = paths.map(async (path) => [
    path,
    (await api.call("GET", path, { as: val.owner })).headers.get("etag") ?? "",
  ])
  return Object.fromEntries(await Promise.all(tags))
}
