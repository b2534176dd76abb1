import type { RouteDefinition } from "@hamlet/contract"
import { waitUntil } from "@hamlet/kit/testing"
import { asOwner } from "../../src/domain/access/rights.ts"
import { addAuthorization, addOAuthClient, toAuthorizeQuery } from "../api/oauth-flow.ts"
import { expectStatus, type TestApi, type TestUser } from "../support/api.ts"
import { addIdentity } from "./linked-identity.ts"
import type { Privacy } from "./rules.ts"
import { toRunRecord } from "./run-record.ts"
import { type PathValues, type SampleRequest, toSampleRequest } from "./samples.ts"
import { addWaitingEmail } from "./waiting-email.ts"

/**
 * What a request is about: a val of the owner's with what else the path names, and a request for
 * it.
 */
export interface Subject {
  readonly request: SampleRequest
  /** Everything of the owner's that a write could change, as the owner reads it. */
  read(): Promise<string>
}

let subjectCount = 0

/** Creates an untouched subject. */
export async function createSubject(
  api: TestApi,
  owner: TestUser,
  name: string,
  route: RouteDefinition,
  privacy: Privacy,
): Promise<Subject> {
  subjectCount += 1
  const unique = String(subjectCount)
  const isOfWeb = /\/(?:requests|preview)$/.test(route.path)
  const isOfSchedule = route.path.endsWith("/schedule")
  const body = {
    name: `val_${unique}`,
    code: isOfWeb
      ? `export default () => new Response("${unique}")`
      : `export const subject = "${unique}"`,
    privacy,
    ...(isOfWeb ? { type: "http" } : {}),
    ...(isOfSchedule ? { type: "interval" } : {}),
    ...(name === "sendTestEmail" ? { type: "email" } : {}),
  }
  const val = expectStatus(await api.call("POST", "/v1/vals", { as: owner, body }), 200).json
  // There must be something to take away, and something to add.
  if (route.method === "delete")
    expectStatus(await api.call("PUT", `/v1/vals/${val.id}/like`, { as: owner }), 204)
  if (isOfSchedule) {
    const schedule = { as: owner, body: { every: "300d" } }
    expectStatus(await api.call("PUT", `/v1/vals/${val.id}/schedule`, schedule), 200)
  }
  if (name === "createWebhook") await addWebhook(api, owner)
  if (name === "readNotifications") await addNotification(api, owner, privacy)
  if (name === "putNotificationSettings") {
    const nothing = { as: owner, body: { muted: [] } }
    expectStatus(await api.call("PUT", "/v1/me/notifications/settings", nothing), 200)
  }
  if (name === "deleteAllSessions") await addSession(api, owner, unique)
  const target = await createTarget(api, owner, name, route, unique)
  const parts = {
    val_id: val.id,
    // Without a version, the address of a file redirects.
    val_name: name === "getModuleFile" ? `${val.name}@1-main` : val.name,
    user_id: target.id,
    username: owner.username,
    module: "blob",
    file_path: "main.tsx",
    code: "1 + 1",
  }
  const values: PathValues = { ...parts, ...(await createParts(api, owner, route, val.id, unique)) }
  const request = toSampleRequest(name, route, values, unique)
  const read = async () =>
    [
      await readBack(api, owner, val.id, unique),
      await readTarget(api, target),
      await readOrganisation(api, owner, values.org_id),
    ].join("\n")
  if (name === "joinOrganisation") {
    const code = await inviteInto(api, await addOrganisation(api, api.admin, unique))
    return { request: { ...request, body: { code } }, read }
  }
  if (name === "checkAuthorization" || name === "createAuthorization") {
    const query = toAuthorizeQuery(await addOAuthClient(api.hamlet))
    const scopes = name === "createAuthorization" ? { scopes: ["val:read"] } : {}
    return { request: { ...request, body: { query, ...scopes } }, read }
  }
  if (name !== "acceptInvitation") return { request, read }
  return {
    request: { ...request, body: { ...request.body, code: (await invite(api)).code } },
    read,
  }
}

/** What administrators do to a user, they do to one who is there for nothing else. */
async function createTarget(
  api: TestApi,
  owner: TestUser,
  name: string,
  route: RouteDefinition,
  unique: string,
): Promise<TestUser> {
  if (route.scope !== "admin" || !route.path.includes("{user_id}")) return owner
  const target = await api.addUser(`target_${unique}`)
  const suspend = () =>
    api.call("PUT", `/v1/users/${target.id}/suspension`, { as: api.admin, body: {} })
  if (name === "unsuspendUser") expectStatus(await suspend(), 204)
  return target
}

function invite(api: TestApi) {
  const { id: userId, username } = api.admin
  return api.hamlet.nouns.invitations.create(
    {
      actorId: userId,
      actorName: username,
      ownerName: username,
      ...asOwner(userId),
      tokenId: "",
      scopes: new Set(),
    },
    { note: null, hours: undefined },
  )
}

/** What administrators and the user see of the user, and the open invitations. */
async function readTarget(api: TestApi, target: TestUser): Promise<string> {
  const responses = await Promise.all([
    api.call("GET", `/v1/users/${target.id}/account`, { as: api.admin }),
    api.call("GET", `/v1/users/${target.id}/quotas`, { as: api.admin }),
    api.call("GET", "/v1/invitations?limit=3", { as: api.admin }),
    api.call("GET", "/v1/me/tokens", { as: target }),
  ])
  return responses.map(({ status, text }) => `${status} ${withoutNoise(text)}`).join("\n")
}

/** What else the path names: nothing is made that it does not. */
async function createParts(
  api: TestApi,
  owner: TestUser,
  route: RouteDefinition,
  valId: string,
  unique: string,
): Promise<PathValues> {
  const made: Record<string, string> = {}
  const parts: Readonly<Record<string, () => Promise<string>>> = {
    // The first of two, since the only one cannot be deleted.
    async version() {
      if (route.path.endsWith("/lock")) return addFailedLock(api, owner, valId, unique)
      expectStatus(
        await api.call("POST", `/v1/vals/${valId}/versions`, {
          as: owner,
          body: { code: `2 // ${unique}` },
        }),
        201,
      )
      return "1"
    },
    async branch_id() {
      return expectStatus(
        await api.call("POST", `/v2/vals/${valId}/branches`, {
          as: owner,
          body: { name: "sample" },
        }),
        201,
      ).json.id
    },
    // The entry file.
    file_id: async () => valId,
    async org_id() {
      const isInvited = route.path.includes("/me/memberships/")
      const orgId = await addOrganisation(api, isInvited ? api.admin : owner, unique)
      if (isInvited) await inviteMember(api, api.admin, orgId, owner)
      if (route.method === "delete" && route.path.includes("{user_id}")) {
        const member = await api.addUser(`member_${unique}`)
        await inviteMember(api, owner, orgId, member)
        made.user_id = member.id
      }
      if (route.method === "put" && route.path.includes("{user_id}")) made.user_id = api.admin.id
      return orgId
    },
    async comment_id() {
      return expectStatus(
        await api.call("POST", `/v1/vals/${valId}/comments`, {
          as: owner,
          body: { comment: "first" },
        }),
        201,
      ).json.id
    },
    async run_id() {
      // One that can be cancelled must not have ended; it is on no node, so that it ends at once.
      const open = { status: "running", endedAt: null } as const
      const run = toRunRecord(api, {
        valId,
        ownerId: owner.id,
        accountId: owner.id,
        ...(route.path.endsWith("/cancel") ? open : {}),
      })
      await api.hamlet.stores.runs.record([run])
      return run.id
    },
    async token_id() {
      return (
        await api.hamlet.nouns.tokens.issue(owner.id, {
          name: "named",
          scopes: ["val:read"],
          expiresAt: null,
        })
      ).token.id
    },
    async invitation_id() {
      if (made.org_id !== undefined) return (await addOrgInvitation(api, owner, made.org_id)).id
      return (await invite(api)).invitation.id
    },
    async email_id() {
      return addWaitingEmail(api, owner)
    },
    async identity_id() {
      return addIdentity(api, owner)
    },
    async session_id() {
      return addSession(api, owner, unique)
    },
    async authorization_id() {
      return (await addAuthorization(api.hamlet, owner)).id
    },
    async key() {
      const key = `blobs/of ${unique}`
      const path = encodeURIComponent(key)
      for (const blob of [`/v1/blob/${path}`, `/v2/blob/${path}?val_id=${valId}`]) {
        const stored = { as: owner, body: `first of ${unique}` }
        expectStatus(await api.call("POST", blob, stored), 201)
      }
      return key
    },
    async webhook_id() {
      return addWebhook(api, owner)
    },
    async variable() {
      const variable = `variable_${unique}`
      const path = `/v2/vals/${valId}/environment_variables`
      const body = { key: variable, value: "hush" }
      expectStatus(await api.call("POST", path, { as: owner, body }), 201)
      return variable
    },
    async name() {
      const secret = `SECRET_${unique}`
      const of = route.path.includes("{val_id}") ? `/v1/vals/${valId}` : "/v1/me"
      expectStatus(
        await api.call("PUT", `${of}/secrets/${secret}`, { as: owner, body: { value: "hush" } }),
        204,
      )
      return secret
    },
  }
  for (const [param, make] of Object.entries(parts))
    if (route.path.includes(`{${param}}`)) made[param] = await make()
  if (route.path.includes("{delivery_id}"))
    made.delivery_id = await addDelivery(api, owner, made.webhook_id ?? "")
  return made
}

async function addOrganisation(api: TestApi, as: TestUser, unique: string): Promise<string> {
  const body = { username: `org_${unique}` }
  return expectStatus(await api.call("POST", "/v1/orgs", { as, body }), 201).json.id
}

async function inviteMember(api: TestApi, as: TestUser, orgId: string, user: TestUser) {
  const path = `/v1/orgs/${orgId}/members/${user.id}`
  expectStatus(await api.call("PUT", path, { as, body: { role: "viewer" } }), 200)
}

async function addOrgInvitation(api: TestApi, as: TestUser, orgId: string) {
  const path = `/v1/orgs/${orgId}/invitations`
  return expectStatus(await api.call("POST", path, { as, body: { role: "member" } }), 201).json
}

/** The code of an invitation into an organisation of the administrator. */
async function inviteInto(api: TestApi, orgId: string): Promise<string> {
  const { url } = await addOrgInvitation(api, api.admin, orgId)
  return url.split("#code=")[1]
}

/** An organisation as its owner sees it, and those that the owner of the subject belongs to. */
async function readOrganisation(api: TestApi, owner: TestUser, orgId = ""): Promise<string> {
  const paths =
    orgId === "" ? [] : ["", "/members", "/invitations"].map((rest) => `/v1/orgs/${orgId}${rest}`)
  const responses = await Promise.all(
    ["/v1/orgs?limit=3", "/v1/me/memberships?limit=3", ...paths].map((path) =>
      api.call("GET", path, { as: owner }),
    ),
  )
  return responses.map(({ status, text }) => `${status} ${withoutNoise(text)}`).join("\n")
}

/** A comment of the administrator on another val of the owner: something that is unread. */
async function addNotification(api: TestApi, owner: TestUser, privacy: Privacy): Promise<void> {
  const body = { code: `export const noticed = "${privacy}"`, privacy: "public" }
  const { id } = expectStatus(await api.call("POST", "/v1/vals", { as: owner, body }), 200).json
  const comment = { as: api.admin, body: { comment: "Look" } }
  expectStatus(await api.call("POST", `/v1/vals/${id}/comments`, comment), 201)
}

/** An account may have few webhooks, so that the earlier ones are removed. */
async function addWebhook(api: TestApi, owner: TestUser): Promise<string> {
  const { json } = await api.call("GET", "/v1/me/webhooks?limit=100", { as: owner })
  for (const { id } of json.data)
    expectStatus(await api.call("DELETE", `/v1/me/webhooks/${id}`, { as: owner }), 204)
  const body = { url: "https://receiver.invalid/", events: ["val.saved"], isPaused: true }
  return expectStatus(await api.call("POST", "/v1/me/webhooks", { as: owner, body }), 201).json.id
}

async function addDelivery(api: TestApi, owner: TestUser, webhookId: string): Promise<string> {
  const path = `/v1/me/webhooks/${webhookId}/test`
  return expectStatus(await api.call("POST", path, { as: owner }), 202).json.id
}

async function addSession(api: TestApi, owner: TestUser, userAgent: string): Promise<string> {
  return (
    await api.hamlet.nouns.sessions.signIn({ token: owner.token, userAgent, replaced: undefined })
  ).session.id
}

/** A version that imports what is not there, which can be tried again. */
async function addFailedLock(
  api: TestApi,
  owner: TestUser,
  valId: string,
  unique: string,
): Promise<string> {
  const code = `import "npm:nothing" // ${unique}`
  const { version } = expectStatus(
    await api.call("POST", `/v1/vals/${valId}/versions`, { as: owner, body: { code } }),
    201,
  ).json
  const path = `/v1/vals/${valId}/versions/${version}/lock`
  await waitUntil(async () => (await api.call("GET", path, { as: owner })).json.state === "failed")
  return String(version)
}

/**
 * The lists are newest first, so that a few items show whatever was just added or removed; secrets
 * are in the order of their names.
 */
async function readBack(
  api: TestApi,
  owner: TestUser,
  valId: string,
  unique: string,
): Promise<string> {
  const paths = [
    `/v1/vals/${valId}`,
    `/v1/vals/${valId}/versions`,
    `/v1/vals/${valId}/versions/2/lock`,
    `/v2/vals/${valId}/files?path=&recursive=true`,
    `/v2/vals/${valId}/branches`,
    `/v1/vals/${valId}/comments`,
    `/v1/vals/${valId}/runs`,
    `/v1/vals/${valId}/schedule`,
    `/v1/vals/${valId}/secrets`,
    `/v1/users/${owner.id}/vals?limit=3`,
    "/v1/me",
    "/v1/me/tokens?limit=3",
    "/v1/me/sessions?limit=3",
    "/v1/me/identities?limit=3",
    "/v1/me/notifications?limit=3",
    "/v1/me/notifications/settings",
    "/v1/me/authorizations?limit=3",
    "/v1/me/secrets?limit=100",
    "/v1/me/webhooks?limit=100",
    `/v1/alias/user_${unique}`,
    `/v1/blob?prefix=${encodeURIComponent(`blobs/of ${unique}`)}`,
    `/v1/blob/${encodeURIComponent(`blobs/of ${unique}`)}`,
    `/v2/blob?val_id=${valId}`,
    `/v2/blob/${encodeURIComponent(`blobs/of ${unique}`)}?val_id=${valId}`,
  ]
  const { json: webhooks } = await api.call("GET", "/v1/me/webhooks?limit=100", { as: owner })
  for (const { id } of webhooks.data) paths.push(`/v1/me/webhooks/${id}/deliveries?limit=3`)
  const statement = `select name from sqlite_master where name = 'sample_${unique}'`
  const responses = await Promise.all([
    ...paths.map((path) => api.call("GET", path, { as: owner })),
    ...["/v1/sqlite/execute", `/v2/sqlite/execute?val_id=${valId}`].map((path) =>
      api.call("POST", path, { as: owner, body: { statement } }),
    ),
  ])
  return responses.map(({ status, text }) => `${status} ${withoutNoise(text)}`).join("\n")
}

/** When a token was used last is written down whether or not it may do what it was sent for. */
function withoutNoise(text: string): string {
  return text.replaceAll(/"lastUsedAt":(null|"[^"]*")/g, "").replaceAll(/"requestId":"[^"]*"/g, "")
}
