import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { AsyncLocalStorage } from "node:async_hooks"
import { tmpdir } from "node:os"
import { dirname } from "node:path"
import {
  type RouteDefinition,
  type RouteName,
  type Routes,
  routeNames,
  routes,
} from "@hamlet/contract"
import { type Statement, sql } from "@hamlet/database"
import { waitUntil } from "@hamlet/kit/testing"
import { compose, type Hamlet } from "../src/compose.ts"
import { loadConfig } from "../src/config/config.ts"
import { createSessions } from "../src/domain/accounts/sessions.ts"
import { allScopes, makeToken } from "../src/domain/accounts/tokens.ts"
import { createRowClaims } from "../src/storage/claims/row-claims.ts"
import { addNotice } from "../src/storage/mail/outbound/add-notice.ts"
import { createEmailStore } from "../src/storage/mail/outbound/emails.ts"
import { createBundleStore } from "../src/storage/modules/bundles.ts"
import { createImportStore } from "../src/storage/modules/imports.ts"
import { createLockfileClaims } from "../src/storage/modules/lockfile-claims.ts"
import { createLockfileStore } from "../src/storage/modules/lockfiles.ts"
import { createVersionFileStore } from "../src/storage/modules/version-files.ts"
import { createNodeStore } from "../src/storage/nodes.ts"
import { createQueueStore } from "../src/storage/queue/queue.ts"
import { createRunStore } from "../src/storage/runs/runs.ts"
import { createLargeDataSet, examples, idOf } from "./plans/large-data-set.ts"
import { openPlanner, type Planner } from "./plans/planner.ts"
import { recording } from "./plans/recording-database.ts"
import { describeEachDatabase, openAgain, type TestDatabase } from "./support/databases.ts"
import { toEndedRun } from "./support/fakes/ended-run.ts"
import { FakeRunner } from "./support/fakes/fake-runner.ts"

type GetRoute = {
  [Name in RouteName]: Routes[Name]["method"] extends "get" ? Name : never
}[RouteName]

const fillMsMax = 600_000
const pages = ["", "limit=100&offset=40"]
const periods = [
  "",
  "since=2023-11-14T22:13:20Z",
  "until=2023-11-15T00:00:00Z&limit=1",
  "since=2023-11-14T22:13:20Z&until=2023-11-15T00:00:00Z",
]
const runFilters = [
  ...periods,
  "error=true",
  "error=false",
  "source=http",
  "source=api",
  "source=api,http,interval",
  "error=true&source=api,http&since=2023-11-14T22:13:20Z",
  "error=false&source=interval&limit=100&offset=40",
  `file_id=${idOf("val", 1)}&source=http`,
  `branch_id=${idOf("val", 1)}`,
  "status=failed",
  "status=running,queued",
  "status=failed,timed_out&source=api,http",
  "text=boom",
  "text=boom&status=succeeded&source=http",
]
const statPeriods = [...periods, "since=2000-01-01T00:00:00Z&buckets=200"]
const vals = [examples.publicVal, examples.privateVal, examples.unlistedVal, examples.strangersVal]
const telemetryFilters = [
  "",
  "direction=asc",
  "direction=asc&start=2023-11-14T22:13:20Z",
  "end=2023-11-15T00:00:00Z",
  ...vals.map((id) => `file_id=${id}`),
  `branch_ids=${vals.join()}`,
  `branch_ids=${vals.join()}&direction=asc`,
]
const ofVals = (rest: string) => vals.map((id) => `/v1/vals/${id}${rest}`)
const combine = (paths: readonly string[], queries: readonly string[]) =>
  paths.flatMap((path) => queries.map((query) => `${path}?${query}`))

/**
 * The requests of each route: every filter, alone and combined, by the owner, by another user and
 * without a token.
 */
const questions: Record<GetRoute, readonly string[]> = {
  getMe: ["/v1/me"],
  getMyUsage: ["/v1/me/usage"],
  listMyValStates: ["/v1/me/val-states"],
  listMyRuns: combine(
    ["/v1/me/runs"],
    [...runFilters, ...vals.flatMap((id) => runFilters.map((filter) => `val_id=${id}&${filter}`))],
  ),
  listMyVals: combine(
    ["/v1/me/vals"],
    ["created", "updated", "name", "likes", "run"].flatMap((sort) =>
      [
        "",
        "order=asc",
        "order=desc",
        "query=val1",
        "privacy=private&type=http",
        "limit=100&offset=40",
      ].map((it) => `sort=${sort}&${it}`),
    ),
  ),
  getMyStats: combine(["/v1/me/stats"], statPeriods),
  getValStats: combine(ofVals("/stats"), statPeriods),
  listTraces: combine(["/v1/telemetry/traces"], [...telemetryFilters, "order_by=end_time"]),
  listTelemetryLogs: combine(
    ["/v1/telemetry/logs"],
    [...telemetryFilters, `trace_ids=${idOf("run", 1).replaceAll("-", "")}`],
  ),
  listMyLogs: ["/v1/me/logs"],
  listMyActivity: ["/v1/me/activity", "/v1/me/activity?hours=720&buckets=60"],
  listMyLikes: combine(["/v1/me/likes"], pages),
  listMyComments: combine(
    ["/v1/me/comments"],
    ["any", "given", "received"].flatMap((it) =>
      periods.map((period) => `relationship=${it}&${period}`),
    ),
  ),
  listMyReferences: combine(["/v1/me/references"], periods),
  listVals: combine(
    ["/v1/vals"],
    ["", `userId=${idOf("user", 1)}`, `userId=${idOf("user", 3)}`, `userId=${idOf("user", 9000)}`]
      .flatMap((owner) =>
        ["", "privacy=public", "privacy=private", "privacy=unlisted", "limit=100&offset=500"].map(
          (privacy) => `${owner}&${privacy}`,
        ),
      )
      .concat(
        ["likes", "runs", "trend"].flatMap((sort) =>
          ["", "limit=100&offset=500", "omit=code,readme", `userId=${idOf("user", 3)}`].map(
            (rest) => `sort=${sort}&${rest}`,
          ),
        ),
      ),
  ),
  // In all of them, in some, in a name, in none; the beginning of a name; punctuation; deep into
  // the list.
  searchVals: combine(
    ["/v1/search/vals"],
    ["common", "needle", "val123", "nowhere", "v", "zz", "=", "common&offset=400&limit=100"].map(
      (it) => `query=${it}`,
    ),
  ),
  getVal: ofVals(""),
  listFolders: combine(
    ["/v2/vals"],
    ["", `user_id=${idOf("user", 3)}&privacy=public`, "cursor=2023-11-14T22:13:20Z&limit=100"],
  ),
  getFolder: vals.map((id) => `/v2/vals/${id}`),
  listMyFolders: combine(["/v2/me/vals"], pages),
  getFolderByName: ["/v2/alias/vals/user1/val1"],
  listOrganisations: combine(["/v1/orgs"], pages),
  getOrganisation: [`/v1/orgs/${idOf("org", 1)}`],
  listOrgMembers: combine([`/v1/orgs/${idOf("org", 1)}/members`], pages),
  listOrgInvitations: combine([`/v1/orgs/${idOf("org", 1)}/invitations`], pages),
  listMyMemberships: combine(["/v1/me/memberships"], pages),
  listOrgs: ["/v2/orgs"],
  listMemberships: [`/v2/orgs/${idOf("org", 1)}/memberships`],
  listBranches: combine(
    vals.map((id) => `/v2/vals/${id}/branches`),
    pages,
  ),
  getBranch: vals.map((id) => `/v2/vals/${id}/branches/${id}`),
  getBranchDifference: combine(ofVals(`/branches/${examples.publicVal}/diff`), [
    "",
    `other_branch_id=${examples.publicVal}`,
  ]),
  listHistory: combine(ofVals("/history"), ["", "path=main.tsx", "limit=100"]),
  listFiles: vals.map((id) => `/v2/vals/${id}/files?path=&recursive=true`),
  getFileContent: vals.map((id) => `/v2/vals/${id}/files/content?path=main.tsx`),
  getFile: vals.map((id) => `/v2/files/${id}`),
  listForks: combine(ofVals("/forks"), pages),
  listValRuns: combine(ofVals("/runs"), runFilters),
  listVersions: combine(ofVals("/versions"), pages),
  getVersion: ofVals("/versions/1"),
  getVersionLock: ofVals("/versions/1/lock"),
  getVersionTypes: ofVals("/versions/1/types"),
  getLike: ofVals("/like"),
  listComments: combine(ofVals("/comments"), pages),
  listValReferences: combine(ofVals("/references"), periods),
  listValDependencies: combine(ofVals("/dependencies"), periods),
  getRun: [`/v1/runs/${idOf("run", 1)}`],
  getRunLogs: [`/v1/runs/${idOf("run", 40)}/logs`],
  callValByQuery: ["/v1/run/user1.val1", "/v1/run/user1.val7?args=[1]", "/v1/run/user1.nothing"],
  evalCodeByQuery: ["/v1/eval/1", "/v1/eval/(a)=>a?args=[1]"],
  getUser: [`/v1/users/${idOf("user", 1)}`],
  listUserVals: combine(
    [
      `/v1/users/${idOf("user", 1)}/vals`,
      `/v1/users/${idOf("user", 3)}/vals`,
      `/v1/users/${idOf("user", 9000)}/vals`,
    ],
    pages,
  ),
  listUsers: combine(["/v1/users"], pages),
  getUserAccount: [`/v1/users/${idOf("user", 1)}/account`],
  getUserQuotas: [`/v1/users/${idOf("user", 1)}/quotas`],
  getUserUsage: [`/v1/users/${idOf("user", 1)}/usage`],
  listInvitations: combine(["/v1/invitations"], pages),
  listAuditEntries: combine(
    ["/v1/audit"],
    ["", "action=user.create"].flatMap((action) => periods.map((it) => `${action}&${it}`)),
  ),
  listNodes: combine(["/v1/nodes"], pages),
  getUserByName: ["/v1/alias/user1", "/v1/alias/@USER9000", "/v1/alias/nobody"],
  getValByName: ["/v1/alias/user1/val1", "/v1/alias/user1/val7", "/v1/alias/user1/nothing"],
  listTokens: combine(["/v1/me/tokens"], pages),
  listSessions: combine(["/v1/me/sessions"], pages),
  listIdentities: combine(["/v1/me/identities"], pages),
  listAuthorizations: combine(["/v1/me/authorizations"], pages),
  getSchedule: [...ofVals("/schedule"), ...ofVals("/schedule?file=main.tsx&branch=dev")],
  listMySchedules: combine(["/v1/me/schedules"], pages),
  previewSchedule: ["/v1/schedules/preview?every=1h"],
  listSecrets: combine(["/v1/me/secrets"], pages),
  listValSecrets: ofVals("/secrets"),
  listEnvironmentVariables: vals.map((id) => `/v2/vals/${id}/environment_variables`),
  listNotifications: combine(["/v1/me/notifications"], pages),
  countNotifications: ["/v1/me/notifications/count"],
  getNotificationSettings: ["/v1/me/notifications/settings"],
  listMyEmails: combine(
    ["/v1/me/emails"],
    ["", "status=sent", "status=waiting", "limit=100&offset=40"],
  ),
  getMyEmail: [`/v1/me/emails/${idOf("email", 1)}`],
  listWebhooks: combine(["/v1/me/webhooks"], pages),
  getWebhook: [`/v1/me/webhooks/${idOf("webhook", 1)}`],
  listDeliveries: combine(
    [`/v1/me/webhooks/${idOf("webhook", 1)}/deliveries`],
    [...pages, "status=waiting", "status=failed"],
  ),
  getDelivery: [`/v1/me/webhooks/${idOf("webhook", 1)}/deliveries/${idOf("delivery", 1)}`],
  listBlobs: combine(
    ["/v1/blob"],
    ["", "%25", "_", "key1", "%F0%9F%98%80", "%F4%8F%BF%BF"].flatMap((prefix) => [
      `prefix=${prefix}`,
      `prefix=${prefix}&limit=10`,
      `prefix=${prefix}&limit=10&after=key15`,
    ]),
  ),
  getBlob: ["/v1/blob/key1", "/v1/blob/large1", "/v1/blob/nothing"],
  listValBlobs: ["prefix=", "prefix=key1&limit=10&after=key15"].map(
    (query) => `/v2/blob?val_id=${examples.privateVal}&${query}`,
  ),
  getValBlob: ["key1", "large1", "nothing"].map(
    (key) => `/v2/blob/${key}?val_id=${examples.privateVal}`,
  ),
  getModule: ["/v/user1/val1", "/v/user1/val1@1"],
  getModuleFile: ["/v/user1/val1/main.tsx", "/v/user1/val1@1-main/main.tsx"],
  getStandardModule: ["/std/blob"],
  getOpenApi: ["/openapi.json"],
  // Reads whole tables, on a connection of its own.
  getBackup: [],
  getDocs: ["/docs"],
  getHealth: ["/healthz"],
  getReadiness: ["/readyz"],
  getMetrics: ["/metrics"],
}

/**
 * What people do, one after the other. The first user's val 7 is private, 11 public, 31 is imported
 * by others.
 */
const writes: readonly (readonly [method: string, path: string, body?: object])[] = [
  [
    "POST",
    "/v1/vals",
    { name: "brandNew", code: 'import "https://esm.town/v/user1/val31"', privacy: "public" },
  ],
  ["PUT", "/v1/vals", { name: "val11", code: 'import "https://esm.town/v/user1/val32"' }],
  ["PUT", "/v1/vals", { name: "brandNew2", code: "1" }],
  ["POST", `/v1/vals/${idOf("val", 11)}/versions`, { code: "2" }],
  ["POST", `/v1/vals/${idOf("val", 21)}/versions`, { code: 'import "npm:zod"' }],
  ["POST", `/v1/vals/${idOf("val", 1)}/versions/1/lock`],
  ["POST", `/v1/vals/${idOf("val", 10)}/versions/1/lock`],
  ["PUT", `/v1/vals/${idOf("val", 31)}`, { name: "renamed", privacy: "unlisted" }],
  ["PUT", `/v1/vals/${idOf("val", 7)}`, { privacy: "public" }],
  ["PUT", `/v1/vals/${idOf("val", 11)}/versions/1/note`, { note: "x" }],
  ["DELETE", `/v1/vals/${idOf("val", 11)}/versions/1`],
  ["DELETE", `/v1/vals/${idOf("val", 12)}/versions/2`],
  ["DELETE", `/v1/vals/${idOf("val", 13)}`],
  [
    "POST",
    `/v1/vals/${idOf("val", 11)}/files`,
    { changes: [{ path: "job.ts", type: "interval", content: "1" }] },
  ],
  ["PUT", `/v1/vals/${idOf("val", 11)}/schedule?file=job.ts`, { every: "2h" }],
  ["DELETE", `/v1/vals/${idOf("val", 11)}/schedule?file=job.ts`],
  ["POST", `/v1/vals/${idOf("val", 11)}/files`, { changes: [{ path: "job.ts", delete: true }] }],
  ["POST", `/v1/vals/${examples.strangersVal}/fork`, { privacy: "public" }],
  ["PUT", `/v1/vals/${examples.strangersVal}/like`],
  ["DELETE", `/v1/vals/${examples.strangersVal}/like`],
  ["POST", `/v1/vals/${examples.strangersVal}/comments`, { comment: "hello" }],
  ["DELETE", `/v1/comments/${idOf("comment", 200)}`],
  ["PUT", "/v1/me", { bio: "hello" }],
  ["POST", "/v1/me/tokens", { name: "another", scopes: ["val:read"] }],
  ["DELETE", `/v1/me/tokens/${idOf("token", 1)}`],
  ["POST", "/v1/me/sign-in-links"],
  ["DELETE", "/v1/me/session"],
  ["DELETE", "/v1/me/sessions"],
  ["PUT", "/v1/me/secrets/ANOTHER", { value: "hush" }],
  ["DELETE", "/v1/me/secrets/ANOTHER"],
  ["PUT", `/v1/me/webhooks/${idOf("webhook", 1)}`, { description: "hello" }],
  ["POST", `/v1/me/webhooks/${idOf("webhook", 1)}/test`],
  ["POST", `/v1/me/webhooks/${idOf("webhook", 1)}/deliveries/${idOf("delivery", 1)}/retry`],
  ["POST", "/v1/me/webhooks", { url: "https://receiver.invalid/", events: ["run.failed"] }],
  ["PUT", `/v1/vals/${examples.strangersVal}/like`],
  ["DELETE", `/v1/me/webhooks/${idOf("webhook", 1)}`],
  ["POST", "/v1/users", { username: "newcomer" }],
  ["PUT", `/v1/users/${idOf("user", 3)}/quotas`, { blobBytes: 5 }],
  ["POST", `/v1/users/${idOf("user", 3)}/tokens`, {}],
  ["PUT", `/v1/users/${idOf("user", 3)}/suspension`, {}],
  ["DELETE", `/v1/users/${idOf("user", 3)}/suspension`],
  ["POST", "/v1/invitations", {}],
  ["DELETE", `/v1/users/${idOf("user", 4)}`],
  ["DELETE", `/v1/users/${idOf("user", 5)}?data=delete`],
  ["POST", "/v1/blob/key1", { small: true }],
  ["POST", "/v1/blob/new", { large: "x".repeat(70_000) }],
  ["POST", "/v1/blob/large1", { large: "x".repeat(70_000) }],
  ["DELETE", "/v1/blob/large2"],
  ["POST", `/v2/blob/key1?val_id=${examples.privateVal}`, { small: true }],
  ["DELETE", `/v2/blob/key1?val_id=${examples.privateVal}`],
  ["POST", `/v1/vals/${idOf("val", 11)}/runs`, { args: [1] }],
  ["POST", `/v1/vals/${examples.strangersVal}/runs`, { version: 1 }],
  ["POST", "/v1/run/user1.val32", { args: [1] }],
  ["POST", `/v1/runs/${idOf("run", 2)}/cancel`],
  ["POST", `/v1/vals/${examples.publicVal}/evaluations/${idOf("run", 1)}/cancel`],
]

/** What writes may gather whole. */
const gatherings = [
  // A save locks all vals that it is linked to, in the order of their ids, however many there are.
  /^(Sort|Unique|Aggregate|SetOp): .* for update of v$/,
  // Vals that import a val which is created or renamed are gathered, each once, however many there
  // are.
  /^Aggregate: select v\.id, v\.privacy from vals v where v\.id <> \$1 and v\.id in \( select v\.id from imports i /,
  // A user has at most so many secrets as the contract allows.
  /^Aggregate: select count\(\*\) as count from secrets where user_id = \$1 /,
  // Only a limited number of invitations may be open, and few accounts are suspended or have
  // quotas.
  /: select count\(\*\) as count from invitations$/,
  /^Index Scan using users_special on users: /,
  // An account sends so many emails in a day as it may, and stores so many bytes of them.
  /^Aggregate: select sum\(.* from emails where account_id = \$1/,
  /^Aggregate: insert into emails .* and \(select count\(\*\) from emails e where e\.account_id = /,
  // A user has only as many sessions and sign-in links as the domain allows.
  /^(Sort|USE TEMP B-TREE[ \w]*): delete from tokens where id in \( select id from tokens where user_id = \$1 and kind = \$2 order by coalesce/,
]

describeEachDatabase("query plans: no query reads a whole table:", (open) => {
  let database: TestDatabase
  let hamlet: Hamlet
  let planner: Planner
  const tokens: Record<string, string | undefined> = { nobody: undefined }
  let recorded: Statement[] = []
  /** Jobs run at any moment, and their statements are not those of the request beside them. */
  const jobs = new AsyncLocalStorage<true>()

  beforeAll(async () => {
    database = await open()
    await createLargeDataSet(database.db)
    planner = await openPlanner(database)
    const openRecording = async () =>
      recording(await openAgain(database), (statement) => {
        if (!jobs.getStore()) recorded.push(statement)
      })
    const replacements = { runner: new FakeRunner(), resolver: null, open: openRecording }
    hamlet = await jobs.run(true, () => compose(toConfig(database), replacements))
    const callers = { "the owner": idOf("user", 1), "somebody else": idOf("user", 2) }
    for (const [name, id] of Object.entries(callers)) {
      // The secrets of this data set cannot be decrypted, and a val of its owner would get them.
      await hamlet.stores.secrets.remove(id, "NAME")
      tokens[name] = (
        await hamlet.nouns.tokens.issue(id, { name, scopes: allScopes, expiresAt: null })
      ).text
    }
  }, fillMsMax)

  afterAll(async () => {
    await hamlet.stop()
    await planner.stop()
  })

  /** Sends a request and gives the statements that it led to. */
  async function record(
    method: string,
    path: string,
    as: string,
    body?: object,
  ): Promise<readonly Statement[]> {
    recorded = []
    const token = tokens[as]
    const headers: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    await waitUntil(async () => {
      const response = await hamlet.app.request(`http://hamlet.test${path}`, {
        method,
        headers: { ...headers, "idempotency-key": crypto.randomUUID() },
        ...init,
      })
      if (method === "GET" && response.status < 500) return true
      const text = await response.text()
      // A busy machine may take too long for a search.
      if (text.includes('"search_timed_out"')) return false
      expect(`${method} ${path}: ${response.status} ${text}`).toMatch(/: 20[0124] /)
      return true
    })
    return recorded
  }

  /** The next page of everything that has one, which is asked for by cursor. */
  async function findNext(paths: readonly string[], as: string): Promise<readonly string[]> {
    const token = tokens[as]
    const headers: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token}` }
    const links = paths.map(async (path) => {
      const response = await hamlet.app.request(`http://hamlet.test${path}`, { headers })
      const answer =
        response.ok && isJson(response)
          ? ((await response.json()) as { links?: { next?: string } } | null)
          : undefined
      const next = answer?.links?.next
      return next === undefined ? [] : [new URL(next).pathname + new URL(next).search]
    })
    return (await Promise.all(links)).flat()
  }

  for (const name of routeNames) {
    const paths = name in questions ? questions[name as GetRoute] : []
    if (paths.length === 0) continue
    test(
      `GET ${routes[name].path}`,
      async () => {
        const statements: Statement[] = []
        for (const as of ["the owner", "somebody else", "nobody"]) {
          for (const path of paths) statements.push(...(await record("GET", path, as)))
          const query = (routes[name] as RouteDefinition).query?.shape ?? {}
          const next = "cursor" in query ? await findNext(paths, as) : []
          for (const path of next) statements.push(...(await record("GET", path, as)))
        }
        expect(await planner.findFaults(statements)).toEqual([])
      },
      fillMsMax,
    )
  }

  test(
    "writes",
    async () => {
      let count = 0
      for (const [method, path, body] of writes) {
        const statements = await record(method, path, "the owner", body)
        count += statements.length
        const faults = (await planner.findFaults(statements)).filter(
          (fault) => !gatherings.some((pattern) => pattern.test(fault)),
        )
        expect([method, path, faults]).toEqual([method, path, []])
      }
      expect(count).toBeGreaterThan(2 * writes.length)
    },
    fillMsMax,
  )

  test("sending mail", async () => {
    const { emails } = hamlet.parts.outboundMail
    const { newId } = hamlet.nouns.clock
    const [accountId, id, at] = [idOf("user", 1), newId(), Date.now()]
    const allowance = { recipientsPerDay: 1_000_000, bytesPerDay: 1_000_000, storedBytesMax: 10 }
    const content = new TextEncoder().encode("{}")
    recorded = []
    await emails.add(
      {
        id,
        accountId,
        kind: "api",
        runId: null,
        val: null,
        from: "",
        subject: "",
        content,
        recipients: ["a@b.test"],
        createdAt: at,
      },
      allowance,
    )
    await emails.findToSend(id)
    await emails.resend(accountId, idOf("email", 2), { id: newId(), at }, allowance)
    const notice = { id: newId(), userId: accountId, subject: "", text: "", at }
    const { db: ownDb } = hamlet.parts.foundation
    await ownDb.write(() => addNotice(ownDb.dialect, notice))
    const db = recording(await openAgain(database), (statement) => recorded.push(statement))
    const nodeId = newId()
    await createNodeStore(database.db).add({ id: nodeId, host: "", pid: 1, pidStarted: "" }, 60_000)
    const claims = createRowClaims(db, {
      table: "emails",
      owner: "account_id",
      hasLanes: false,
      nodeId,
      perOwnerMax: 2,
    })
    const store = createEmailStore(db, claims)
    for (const claim of await claims.claim(2, []))
      await store.record(claim, { recipients: [], error: null, retryMs: undefined, at })
    await claims.claim(2, [])
    await claims.takeOver([])
    await claims.nextDueMs()
    await db.stop()
    await emails.purge(at, at, 10)
    expect(recorded.length).toBeGreaterThan(10)
    expect(
      (await planner.findFaults(recorded)).filter(
        (fault) => !gatherings.some((pattern) => pattern.test(fault)),
      ),
    ).toEqual([])
  })

  test("cleaning up", async () => {
    recorded = []
    await hamlet.stores.runs.purge(10)
    await hamlet.stores.idempotency.purge(Date.parse("2100-01-01"), 0, 10)
    await hamlet.stores.runs.purgeOlder(Date.parse("2100-01-01"), 10)
    // Later than any time that ids of this data set may stand for, so that there is something to
    // delete.
    await hamlet.stores.runs.purgeOlder(2 ** 47, 100)
    await hamlet.stores.runs.purgeBeyond(examples.publicVal, 100, 100)
    const [size] = await hamlet.stores.runs.listSizes(idOf("user", 1), undefined, 10)
    if (size) await hamlet.stores.runs.listSizes(idOf("user", 1), size, 10)
    if (size) await hamlet.stores.runs.purgeFrom(idOf("user", 1), size, 10)
    await hamlet.stores.objects.purgeBeyond(idOf("user", 1), 0)
    for (let turn = 0; turn < 3; turn += 1)
      await hamlet.stores.objects.purge(Date.parse("2100-01-01"))
    expect(recorded.length).toBeGreaterThan(10)
    expect(await planner.findFaults(recorded)).toEqual([])
  })

  test("sign-in and sessions", async () => {
    const { nouns, stores } = hamlet
    recorded = []
    const token = tokens["the owner"] ?? ""
    const caller = await nouns.tokens.authenticate(token)
    const { session, text } = await nouns.sessions.signIn({
      token,
      userAgent: null,
      replaced: undefined,
    })
    const { code } = await nouns.signInLinks.create(caller)
    await nouns.sessions.signIn({ code, userAgent: null, replaced: text })
    const longer = createSessions(stores.sessions, nouns.tokens, 365 * 86_400_000, nouns.clock)
    await longer.renew({ ...caller, tokenId: session.id, expiresAt: session.expiresAt })
    await stores.sessions.remove(caller.ownerId, session.id)
    expect(recorded.length).toBeGreaterThan(10)
    expect(
      (await planner.findFaults(recorded)).filter(
        (fault) => !gatherings.some((pattern) => pattern.test(fault)),
      ),
    ).toEqual([])
  })

  test("building a program from a val", async () => {
    const { secrets, tokens: store } = hamlet.stores
    const { clock } = hamlet.nouns
    const db = recording(await openAgain(database), (statement) => recorded.push(statement))
    try {
      recorded = []
      const imports = createImportStore(db)
      const files = createVersionFileStore(db)
      const [{ branchId, version, path, since } = noEntry] = await database.db.read<typeof noEntry>(
        sql`select b.id as branch_id, b.version, n.entry_path as path, n.entry_since as since from dependencies d
          join branches b on b.id = d.from_val_id join versions n on n.branch_id = b.id and n.version = b.version order by b.id limit 1`,
      )
      const file = { branchId, path, since }
      const found = [await imports.find(file, null), await imports.find(file, clock.now())]
      expect(found.map((all) => all.some(({ target }) => target !== undefined))).toEqual([
        true,
        true,
      ])
      expect(await files.find(branchId, version, path)).toMatchObject({ since })
      expect(await files.findVersion(branchId, null)).toMatchObject({ number: version })
      expect(await files.findBranch(branchId, null)).toMatchObject({ id: branchId })
      expect(await files.listModules(branchId, version)).toHaveLength(1)
      await secrets.listSealed(idOf("user", 1))
      const { record } = makeToken(clock, idOf("user", 1), {
        name: "run",
        scopes: ["val:read"],
        expiresAt: null,
      })
      await store.changeRunTokens(idOf("token", 1), [record], [record.id])
      await store.removeRunTokensOf(idOf("token", 1))
      await store.removeLostRunTokens()
      expect(recorded.length).toBeGreaterThan(5)
      expect(await planner.findFaults(recorded)).toEqual([])
    } finally {
      await db.stop()
    }
  })

  test("fetching packages", async () => {
    // The statements of this test alone: with a second node, those of jobs are not always told
    // apart.
    const own: Statement[] = []
    const db = recording(await openAgain(database), (statement) => own.push(statement))
    const nodes = createNodeStore(database.db)
    const nodeId = hamlet.nouns.clock.newId()
    try {
      const [locks, bundles] = [createLockfileStore(db), createBundleStore(db)]
      const at = Date.now()
      const parts = { code: new Uint8Array(10), cache: null, files: null, types: null }
      const bundle = { hash: "f".repeat(64), ...parts }
      const resolution = { imports: [], bundle: bundle.hash }
      await Promise.all([
        locks.findSummary(idOf("val", 10), 1),
        locks.findSummary(idOf("val", 11), 1),
        locks.findSummary(idOf("val", 12), 1),
      ])
      await locks.add(idOf("val", 12), 1, at)
      await nodes.add({ id: nodeId, host: "", pid: 1, pidStarted: "" }, 60_000)
      const claims = createLockfileClaims(db, nodeId)
      const [one, other, third] = await claims.claim(3, [])
      if (!one || !other || !third) throw new Error("there was nothing to claim")
      await claims.takeOver([one, other])
      expect(await claims.settle(one, { state: "ready", resolution, bundle }, at)).toBe(true)
      await claims.note(other, { resolution, bundle }, at)
      await claims.postpone(other, 0, { resolution, bundle }, at)
      await claims.nextDueMs()
      expect(await bundles.find(bundle.hash)).toBeDefined()
      expect(await bundles.purge("", at, 100)).toBeDefined()
      expect(own.length).toBeGreaterThan(10)
      expect(await planner.findFaults(own)).toEqual([])
    } finally {
      await nodes.end(nodeId)
      await db.stop()
    }
  })

  test("recording and ending runs", async () => {
    const { runs } = hamlet.stores
    const { newId } = hamlet.nouns.clock
    const nodeId = newId()
    const open = toEndedRun({
      valId: examples.publicVal,
      ownerId: idOf("user", 1),
      nodeId,
      status: "running",
      startedAt: Date.now(),
      endedAt: null,
    })
    // Runs of a node that is not there are ended at any moment.
    const nodes = createNodeStore(database.db)
    await nodes.add({ id: nodeId, host: "", pid: 1, pidStarted: "" }, 60_000)
    recorded = []
    await runs.record(Array.from({ length: 75 }, () => ({ ...open, id: newId() })))
    const asked = { ...open, id: newId() }
    await runs.record([asked])
    expect(await runs.requestCancel(asked.id, Date.now())).toBe(true)
    expect(await runs.listCancelRequests()).toEqual([asked.id])
    expect(await runs.findInput(asked.id)).toBeUndefined()
    await nodes.end(nodeId)
    const queue = createQueueStore(recording(database.db, (it) => recorded.push(it)))
    const error = { name: "Error", message: "gone" }
    const takeover = { error, at: Date.now(), runsMax: 50, delayOf: () => 0 }
    while ((await queue.takeOver(takeover)).hasMore);
    expect(recorded.length).toBeGreaterThan(10)
    expect(await planner.findFaults(recorded)).toEqual([])
  })

  test(
    "the queue, in which one user has 100,000 runs",
    async () => {
      const own: Statement[] = []
      const db = recording(await openAgain(database), (statement) => own.push(statement))
      const { newId } = hamlet.nouns.clock
      const [queue, runs, nodes] = [createQueueStore(db), createRunStore(db), createNodeStore(db)]
      const [nodeId, gone] = [newId(), newId()]
      const request = { nodeId, held: [], runsMax: 128, after: null, roomOf: () => 64 }
      const error = { name: "Error", message: "gone" }
      try {
        for (const id of [nodeId, gone])
          await nodes.add({ id, host: "host", pid: 1, pidStarted: id }, 60_000)
        const { runs: claimed } = await queue.claim(request)
        // An interval file of another user may wait for its first run.
        const byUser = Map.groupBy(claimed, ({ accountId }) => accountId)
        expect(Math.max(...[...byUser.values()].map((runs) => runs.length))).toBe(64)
        const about = { valId: examples.publicVal, version: 1, accountId: idOf("user", 1) }
        const id = await queue.enqueue({ ...about, id: newId(), source: "api", args: [] })
        // The run was queued last, and is among the next to be claimed.
        const { runs: next } = await queue.claim({ ...request, held: claimed })
        expect(next.map((run) => run.id)).toContain(id ?? "")
        await queue.claim({ ...request, held: [...claimed, ...next], after: examples.crowdingUser })
        const [first, second, ...rest] = claimed
        if (!first || !second) throw new Error("there was nothing to claim")
        const toRecord = (run: typeof first, endedAt: number | null) => ({
          ...run,
          nodeId: endedAt === null ? nodeId : null,
          startedAt: Date.now(),
          endedAt,
          error: null,
          returnValue: null,
          claim: { fence: run.fence, retryMs: undefined },
          status: endedAt === null ? ("running" as const) : ("succeeded" as const),
        })
        expect(await runs.record([toRecord(first, null), toRecord(second, Date.now())])).toEqual([])
        await nodes.saveBegun(nodeId, new Map([[first.id, first.fence]]))
        await queue.saveClaims(nodeId, [first, ...rest])
        await queue.release(rest, 0)
        await queue.claim({ ...request, nodeId: gone })
        await nodes.end(gone)
        const takeover = { error, at: Date.now(), runsMax: 50, delayOf: () => 0 }
        expect(await queue.takeOver(takeover)).toMatchObject({ crashed: 0 })
        expect(await runs.requestCancel(rest[0]?.id ?? "", Date.now())).toBe(true)
        await queue.countWaiting(examples.crowdingUser, 10_000)
        expect((await queue.depth(100_000)).due).toBeGreaterThan(99_000)
        await queue.drop(first)
        expect(own.length).toBeGreaterThan(30)
        expect(await planner.findFaults(own)).toEqual([])
      } finally {
        await db.stop()
      }
    },
    fillMsMax,
  )

  test("every foreign key has an index", async () => {
    expect(await planner.findBareReferences()).toEqual([])
  })

  describe("query plans: a full scan is detected in", () => {
    const bad: Record<string, Statement> = {
      "a column without an index": sql`select id from vals where updated_at = ${1}`,
      "a limit that does not help": sql`select id from vals where updated_at = ${1} order by name limit ${20}`,
      "a sort of all that a user has": sql`select id from vals where owner_id = ${idOf("user", 1)} order by updated_at desc limit ${20}`,
      "a list in an order that no index has": sql`select id from vals where privacy = 'public' order by updated_at desc limit ${20}`,
      "an index that is read to its end": sql`select count(*) from runs`,
      "a condition that keeps the index from being used": sql`select id from users where lower(username) = ${"user1"}`,
      "a text that is searched without its index": sql`select val_id from search_texts where body like ${"%needle%"}`,
      "either of two conditions": sql`select id from vals where privacy = 'public' or owner_id = ${idOf("user", 1)} order by created_at desc, id desc limit ${20}`,
    }

    test.each(Object.entries(bad))("%s", async (_, statement) => {
      expect(await planner.findFaults([statement])).not.toEqual([])
    })
  })
})

function toConfig({ url, path }: TestDatabase) {
  const place: Record<string, string> =
    path === undefined
      ? { HAMLET_DATABASE_URL: url ?? "", HAMLET_DATA_DIR: tmpdir() }
      : { HAMLET_DATA_DIR: dirname(path) }
  const rest = {
    HAMLET_BASE_URL: "http://hamlet.test",
    HAMLET_LOG_LEVEL: "none",
    HAMLET_SECRET_KEY: Buffer.alloc(32, 7).toString("base64"),
  }
  return loadConfig({ ...place, ...rest }, [])
}

function isJson(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("application/json") ?? false
}

const noEntry = { branchId: "", version: 0, path: "", since: 0 }
