import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type RouteDefinition, type RouteName, routeNames, routes } from "@hamlet/contract"
import { createBackupChecker } from "@hamlet/contract/backup"
import { ApiError, type Client, ConnectionError, createClient } from "@hamlet/contract/client"
import {
  addAuthorization,
  addOAuthClient,
  redirectUri,
  toAuthorizeQuery,
} from "./api/oauth-flow.ts"
import { addIdentity } from "./authorization/linked-identity.ts"
import type { TestUser } from "./support/api.ts"
import { createSampleData, firstRunAt, type SampleData } from "./support/data/sample-data.ts"
import { describeSqlite } from "./support/databases.ts"
import { type Loopback, openLoopback } from "./support/loopback.ts"

interface Scene {
  readonly loopback: Loopback
  readonly sample: SampleData
  /** Our own client, as Ada. */
  readonly client: Client
}

/** A webhook that is paused and whose receiver does not exist. */
const sampleWebhook = {
  url: "https://receiver.invalid/",
  events: ["val.saved"] as const satisfies string[],
  isPaused: true,
}

/** Each route of the table, called through the method that the table gave the client. */
const calls: Record<RouteName, (scene: Scene) => Promise<void>> = {
  async getMe({ client, sample }) {
    expect(await client.getMe()).toMatchObject({
      id: sample.ada.id,
      username: "ada",
      email: null,
      tier: null,
    })
  },
  async updateMe({ loopback, client: adas }) {
    const { client } = await newcomer({ loopback })
    expect(await client.updateMe({ bio: "é😀", email: "eve@example.com" })).toMatchObject({
      bio: "é😀",
      email: "eve@example.com",
    })
    expect(await client.updateMe({ email: null })).toMatchObject({ bio: "é😀", email: null })
    expect(await failure(adas.updateMe({ bio: "x".repeat(2_001) }))).toMatchObject({
      code: "invalid_request",
    })
  },
  async listMyVals({ client, sample }) {
    const { data } = await client.listMyVals({
      query: "LIBR",
      privacy: "public",
      sort: "run",
      order: "asc",
    })
    expect(data.map((val) => val.id)).toEqual([sample.library.id])
  },
  async listTraces({ client }) {
    const window = { start: new Date(firstRunAt - 1).toISOString(), direction: "asc" } as const
    const pages = [await client.listTraces({ ...window, limit: 2 })]
    for (;;) {
      const { next } = pages.at(-1)?.links ?? {}
      if (next === undefined) break
      const start = new URL(next).searchParams.get("start") ?? ""
      pages.push(await client.listTraces({ ...window, limit: 2, start }))
    }
    expect(pages.slice(0, 2).map(({ data }) => data.length)).toEqual([2, 1])
    expect(pages[0]?.data[0]?.startTimeUnixNano).toBe(`${firstRunAt}000000`)
  },
  async listTelemetryLogs({ client }) {
    const { data } = await client.listTraces({ limit: 100 })
    const trace_ids = data.map(({ traceId }) => traceId)
    const logs = await client.listTelemetryLogs({ trace_ids, limit: 1 })
    expect(logs.links.self).toContain("/v1/telemetry/logs?")
  },
  async getMyStats({ client }) {
    const stats = await client.getMyStats({
      since: new Date(firstRunAt - 1),
      until: new Date(firstRunAt + 180_000 - 1),
      buckets: 3,
    })
    expect(stats).toMatchObject({
      bucketMs: 60_000,
      total: { runs: 3, errors: 1, p50Ms: 25 },
      isPartial: false,
    })
    expect(stats.buckets.map(({ runs, errors }) => [runs, errors])).toEqual([
      [1, 0],
      [1, 1],
      [1, 0],
    ])
  },
  async getValStats({ client, sample }) {
    const stats = await client.getValStats({
      val_id: sample.library.id,
      since: new Date(firstRunAt),
      until: new Date(firstRunAt + 60_000),
    })
    expect(stats.total).toEqual({ runs: 1, errors: 1, p50Ms: 25, p95Ms: 25 })
  },
  async listMyActivity({ client }) {
    expect(await client.listMyActivity({ hours: 2, buckets: 60 })).toMatchObject({
      bucketMs: 120_000,
      isPartial: false,
    })
  },
  async listMyLogs({ client }) {
    expect(await client.listMyLogs()).toEqual({ data: [] })
  },
  async getMyUsage({ client }) {
    expect(await client.getMyUsage()).toMatchObject({
      runs: { perMinuteMax: null, atOnceMax: 1024 },
      blobs: { bytesMax: 1024 ** 3 },
    })
  },
  async listMyValStates({ client, sample }) {
    const first = await client.raw.listMyValStates()
    expect(first.body.data).toContainEqual(expect.objectContaining({ id: sample.library.id }))
    const ifNoneMatch = first.headers.get("etag") ?? ""
    expect(await client.raw.listMyValStates({}, { ifNoneMatch })).toMatchObject({
      status: 304,
      body: undefined,
    })
  },
  async listMyRuns({ client, sample }) {
    const ids = async (input: Parameters<Client["listMyRuns"]>[0]) =>
      (await client.listMyRuns(input)).data.map((run) => run.id)
    const [first = "", second = "", third = ""] = sample.runs.map((run) => run.id)
    expect(await ids({})).toEqual([third, second, first])
    expect(await ids({ error: true })).toEqual([second])
    expect(await ids({ source: ["http", "ui"] })).toEqual([first])
    expect(
      await ids({ since: new Date(firstRunAt), until: new Date(firstRunAt + 60_000) }),
    ).toEqual([second])
  },
  async listMyLikes({ client, sample }) {
    expect((await client.listMyLikes({ limit: 1 })).data.map((val) => val.id)).toEqual([
      sample.importers[1]?.id ?? "",
    ])
  },
  async listMyComments({ client, sample }) {
    const { data } = await client.listMyComments({
      relationship: "received",
      until: new Date(),
      offset: 1,
    })
    expect(data.map((comment) => comment.id)).toEqual([sample.libraryComments[0] ?? ""])
  },
  async listMyReferences({ client, sample }) {
    const { data } = await client.listMyReferences({ since: new Date(firstRunAt) })
    expect(data.map((it) => it.reference.id)).toEqual(
      sample.importers.map((val) => val.id).reverse(),
    )
  },
  async listVals({ client, sample }) {
    const { data } = await client.listVals({ userId: sample.bob.id, privacy: "public" })
    expect(data.map((val) => val.id)).toEqual(sample.importers.map((val) => val.id).reverse())
  },
  async createVal({ client }) {
    const input = {
      name: "created",
      code: 'export default "é\u2028😀"\n',
      readme: null,
      privacy: "unlisted",
      type: "httpnext",
    } as const
    expect(await client.createVal(input)).toMatchObject({ ...input, type: "http", version: 1 })
  },
  async saveVal({ client }) {
    const made = await client.saveVal({ name: "saved", code: "1" })
    expect(await client.saveVal({ name: "saved", code: "2" }, { ifMatch: 1 })).toMatchObject({
      id: made.id,
      version: 2,
    })
    expect(
      await failure(client.saveVal({ name: "saved", code: "3" }, { ifMatch: 1 })),
    ).toMatchObject({
      status: 412,
      code: "version_conflict",
    })
  },
  async importVals({ client }) {
    const vals = [
      {
        name: "imported",
        versions: [{ version: 3, code: "3", createdAt: "2024-02-29T12:00:00Z" }],
      },
      { name: "no name", versions: [{ code: "1" }] },
    ]
    const { results } = await client.importVals({ vals, dryRun: false, ifExists: "fail" })
    expect(results).toMatchObject([
      { name: "imported", status: "created", version: 3 },
      { name: "no name", status: "failed" },
    ])
  },
  async searchVals({ client, sample }) {
    const { data } = await client.searchVals({ query: 'from "http' })
    expect(data.map((val) => val.id).sort()).toEqual(sample.importers.map((val) => val.id).sort())
  },
  async getVal({ client, sample }) {
    const first = await client.raw.getVal({ val_id: sample.library.id })
    expect(first).toMatchObject({
      status: 200,
      body: { name: "library", version: 2, likeCount: 1, referenceCount: 2 },
    })
    const again = await client.raw.getVal(
      { val_id: sample.library.id },
      { ifNoneMatch: first.headers.get("etag") ?? "" },
    )
    expect(again).toMatchObject({ status: 304, body: undefined })
  },
  async updateVal({ client }) {
    const { id } = await client.createVal({ code: "1" })
    expect(
      await client.updateVal({ val_id: id, name: "updated", privacy: "public" }),
    ).toBeUndefined()
    expect(await client.getVal({ val_id: id })).toMatchObject({
      name: "updated",
      privacy: "public",
      version: 1,
    })
  },
  async deleteVal({ client }) {
    const { id } = await client.createVal({ code: "1" })
    expect(await client.deleteVal({ val_id: id }, { ifMatch: 1 })).toBeUndefined()
    expect(await failure(client.getVal({ val_id: id }))).toMatchObject({
      status: 404,
      code: "val_not_found",
    })
  },
  async listValRuns({ client, sample }) {
    const { data } = await client.listValRuns({
      val_id: sample.library.id,
      error: false,
      source: "api",
    })
    expect(data.map((run) => run.id)).toEqual([sample.runs[2]?.id ?? ""])
  },
  async createFolder({ client }) {
    const input = { name: "empty-folder", privacy: "unlisted", description: "a folder" } as const
    expect(await client.createFolder(input)).toMatchObject(input)
    expect(
      await failure(client.createFolder({ name: "Empty_folder", privacy: "public" })),
    ).toMatchObject({ status: 409, code: "name_taken" })
  },
  async listFolders({ client, sample }) {
    const { data } = await client.listFolders({ user_id: sample.ada.id, privacy: "public" })
    expect(data.map((it) => it.id)).toContain(sample.library.id)
  },
  async getFolder({ client, sample }) {
    expect(await client.getFolder({ val_id: sample.library.id })).toMatchObject({
      name: "library",
      author: { id: sample.ada.id, type: "user", username: "ada" },
    })
  },
  async deleteFolder({ client }) {
    const { id } = await client.createFolder({ name: "gone", privacy: "private" })
    expect(await client.deleteFolder({ val_id: id })).toBeUndefined()
    expect(await failure(client.getFolder({ val_id: id }))).toMatchObject({ status: 404 })
  },
  async listMyFolders({ client, sample }) {
    const { data } = await client.listMyFolders({ limit: 100 })
    expect(data.map((it) => it.id)).toContain(sample.library.id)
  },
  async getFolderByName({ client, sample }) {
    expect(await client.getFolderByName({ username: "ada", val_name: "library" })).toMatchObject({
      id: sample.library.id,
    })
  },
  async createOrganisation(scene) {
    const { org } = await newOrganisation(scene)
    expect(org).toMatchObject({ type: "org", role: "owner", members: 1 })
  },
  async listOrganisations(scene) {
    const { client, org } = await newOrganisation(scene)
    const { id, username } = org
    expect((await client.listOrganisations()).data).toEqual([
      { id, username, role: "owner", members: 1 },
    ])
  },
  async getOrganisation(scene) {
    const { client, org } = await newOrganisation(scene)
    expect(await client.getOrganisation({ org_id: org.id })).toMatchObject(org)
  },
  async updateOrganisation(scene) {
    const { client, org } = await newOrganisation(scene)
    const changed = await client.updateOrganisation({ org_id: org.id, bio: "é" })
    expect(changed.bio).toBe("é")
  },
  async deleteOrganisation(scene) {
    const { client, org } = await newOrganisation(scene)
    const { id: org_id, username: confirm } = org
    expect(await client.deleteOrganisation({ org_id, confirm })).toEqual({ pending: true })
    expect(await failure(client.getOrganisation({ org_id }))).toMatchObject({ status: 404 })
  },
  async listOrgMembers(scene) {
    const { client, org } = await newOrganisation(scene)
    const { data } = await client.listOrgMembers({ org_id: org.id })
    expect(data).toMatchObject([{ role: "owner", pending: false }])
  },
  async putOrgMember(scene) {
    const { client, org } = await newOrganisation(scene)
    const { user } = await newcomer(scene)
    const invited = { org_id: org.id, user_id: user.id, role: "viewer" } as const
    expect(await client.putOrgMember(invited)).toMatchObject({ role: "viewer", pending: true })
  },
  async removeOrgMember(scene) {
    const { client, user, org } = await newOrganisation(scene)
    const left = client.removeOrgMember({ org_id: org.id, user_id: user.id })
    expect(await failure(left)).toMatchObject({ status: 409, code: "last_owner" })
  },
  async createOrgInvitation(scene) {
    const { client, org } = await newOrganisation(scene)
    const invitation = await client.createOrgInvitation({ org_id: org.id, role: "member" })
    expect(invitation.url).toContain("/join#code=")
  },
  async listOrgInvitations(scene) {
    const { client, org } = await newOrganisation(scene)
    await client.createOrgInvitation({ org_id: org.id, role: "viewer" })
    const { data } = await client.listOrgInvitations({ org_id: org.id })
    expect(data).toMatchObject([{ role: "viewer", email: null }])
  },
  async revokeOrgInvitation(scene) {
    const { client, org } = await newOrganisation(scene)
    const { id } = await client.createOrgInvitation({ org_id: org.id, role: "viewer" })
    const one = { org_id: org.id, invitation_id: id }
    expect(await client.revokeOrgInvitation(one)).toBeUndefined()
    expect(await failure(client.revokeOrgInvitation(one))).toMatchObject({ status: 404 })
  },
  async listMyMemberships(scene) {
    const { client, org } = await newOrganisation(scene)
    const { data } = await client.listMyMemberships()
    expect(data).toMatchObject([{ org: { id: org.id }, role: "owner", pending: false }])
  },
  async joinOrganisation(scene) {
    const { client, org } = await newOrganisation(scene)
    const { url } = await client.createOrgInvitation({ org_id: org.id, role: "viewer" })
    const { client: guest } = await newcomer(scene)
    const code = url.split("#code=")[1] ?? ""
    expect(await guest.joinOrganisation({ code })).toMatchObject({ id: org.id, role: "viewer" })
  },
  async acceptMembership(scene) {
    const { client, org } = await newOrganisation(scene)
    const { client: guest, user } = await newcomer(scene)
    await client.putOrgMember({ org_id: org.id, user_id: user.id, role: "member" })
    expect(await guest.acceptMembership({ org_id: org.id })).toBeUndefined()
    expect(await guest.getOrganisation({ org_id: org.id })).toMatchObject({ members: 2 })
  },
  async declineMembership(scene) {
    const { client, org } = await newOrganisation(scene)
    const { client: guest, user } = await newcomer(scene)
    await client.putOrgMember({ org_id: org.id, user_id: user.id, role: "member" })
    expect(await guest.declineMembership({ org_id: org.id })).toBeUndefined()
    expect((await guest.listMyMemberships()).data).toEqual([])
  },
  async listOrgs(scene) {
    const { client, org } = await newOrganisation(scene)
    const { id, username } = org
    expect((await client.listOrgs()).data).toEqual([{ id, username }])
  },
  async listMemberships(scene) {
    const { client, user, org } = await newOrganisation(scene)
    expect(await client.listMemberships({ org_id: org.id })).toEqual([
      { id: user.id, role: "owner", user: { id: user.id, username: user.username } },
    ])
  },
  async listBranches({ client, sample }) {
    const { data } = await client.listBranches({ val_id: sample.library.id })
    expect(data).toMatchObject([{ id: sample.library.id, name: "main", version: 2 }])
  },
  async createBranch({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    expect(await client.createBranch({ val_id, name: "try" })).toMatchObject({
      name: "try",
      version: 0,
      forkedBranchId: val_id,
    })
  },
  async getBranch({ client, sample }) {
    const { id } = sample.library
    expect(await client.getBranch({ val_id: id, branch_id: id })).toMatchObject({ name: "main" })
  },
  async deleteBranch({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const { id: branch_id } = await client.createBranch({ val_id, name: "try" })
    expect(await client.deleteBranch({ val_id, branch_id })).toBeUndefined()
    expect(await failure(client.getBranch({ val_id, branch_id }))).toMatchObject({
      code: "branch_not_found",
    })
  },
  async getBranchDifference({ client }) {
    const { id } = await client.createVal({ code: "1" })
    await client.updateFile({ val_id: id, path: "main.tsx", content: "2" })
    const input = { val_id: id, branch_id: id, version: 1 }
    expect((await client.getBranchDifference(input)).data).toEqual([
      { path: "main.tsx", newPath: null, kind: "changed", before: "1", after: "2" },
    ])
  },
  async mergeBranch({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const { id: branch_id } = await client.createBranch({ val_id, name: "try" })
    const write = (branch: string, content: string) =>
      client.updateFile({ val_id, branch_id: branch, path: "main.tsx", content })
    await write(branch_id, "2")
    expect(await client.mergeBranch({ val_id, branch_id })).toEqual({
      version: 2,
      isNewVersion: true,
    })
    await Promise.all([write(branch_id, "3"), write(val_id, "4")])
    expect(await failure(client.mergeBranch({ val_id, branch_id }))).toMatchObject({
      status: 409,
      code: "merge_conflict",
      merge: {
        conflicts: [{ path: "main.tsx", base: "2", ours: "4", theirs: "3" }],
        conflictCount: 1,
        version: 3,
        sourceVersion: 2,
      },
    })
  },
  async listHistory({ client, sample }) {
    const { data } = await client.listHistory({ val_id: sample.library.id, path: "main.tsx" })
    expect(data.at(-1)).toMatchObject({ version: 1, changes: [{ kind: "added" }] })
  },
  async restoreFiles({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    await client.createVersion({ val_id, code: "2" })
    const input = { val_id, version: 1, path: "main.tsx", note: "back" }
    expect(await client.restoreFiles(input)).toEqual({ version: 3, isNewVersion: true })
    const { data } = await client.listVersions({ val_id, limit: 1 })
    expect(data).toMatchObject([{ code: "1", note: "back" }])
  },
  async putVersionNote({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    expect(await client.putVersionNote({ val_id, version: 1, note: "first" })).toBeUndefined()
    const { data } = await client.listVersions({ val_id, limit: 1 })
    expect(data).toMatchObject([{ note: "first" }])
  },
  async listFiles({ client, sample }) {
    const { data } = await client.listFiles({ val_id: sample.library.id, path: "" })
    expect(data[1]).toMatchObject({ id: sample.library.id, path: "main.tsx" })
  },
  async createFile({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const input = { type: "file", content: "é😀" } as const
    const made = await client.createFile({ val_id, path: "a/b.txt", ...input })
    expect(made).toMatchObject({ name: "b.txt", path: "a/b.txt", type: "file", version: 2 })
  },
  async updateFile({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const input = { val_id, path: "main.tsx", name: "app.ts", parent_path: "src" }
    expect(await client.updateFile(input)).toMatchObject({ id: val_id, path: "src/app.ts" })
  },
  async deleteFile({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    expect(await client.deleteFile({ val_id, path: "main.tsx" })).toBeUndefined()
    expect(await failure(client.deleteFile({ val_id, path: "never" }))).toMatchObject({
      code: "file_not_found",
    })
  },
  async getFileContent({ client }) {
    const { id: val_id } = await client.createVal({ code: "'é'" })
    const response = await client.getFileContent({ val_id, path: "main.tsx" })
    expect(await response.text()).toBe("'é'")
    const ifNoneMatch = response.headers.get("etag") ?? ""
    const input = { val_id, path: "main.tsx" }
    expect((await client.raw.getFileContent(input, { ifNoneMatch })).status).toBe(304)
  },
  async getFile({ client, sample }) {
    expect(await client.getFile({ file_id: sample.library.id })).toMatchObject({
      path: "main.tsx",
    })
  },
  async changeFiles({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const changes = [
      { path: "lib.ts", content: "2" },
      { path: "main.tsx", newPath: "app.ts" },
    ]
    const saved = await client.changeFiles({ val_id, changes }, { ifMatch: 1 })
    expect(saved).toMatchObject({ version: 2, isNewVersion: true })
    expect(saved.files.map((file) => file.path).sort()).toEqual(["app.ts", "lib.ts"])
    expect(await failure(client.changeFiles({ val_id, changes }, { ifMatch: 1 }))).toMatchObject({
      status: 412,
      code: "version_conflict",
    })
  },
  async listVersions({ client, sample }) {
    expect(
      (await client.listVersions({ val_id: sample.library.id })).data.map((it) => it.version),
    ).toEqual([2, 1])
  },
  async createVersion({ client }) {
    const { id } = await client.createVal({ code: "1" })
    expect(await client.raw.createVersion({ val_id: id, code: "2" })).toMatchObject({
      status: 201,
      body: { version: 2 },
    })
    expect(await client.raw.createVersion({ val_id: id, code: "2" })).toMatchObject({
      status: 200,
      body: { version: 2 },
    })
  },
  async getVersion({ client, sample }) {
    expect(await client.getVersion({ val_id: sample.library.id, version: 1 })).toMatchObject({
      version: 1,
      code: "export const one = 1",
    })
  },
  async getVersionLock({ client, sample }) {
    expect(await client.getVersionLock({ val_id: sample.library.id, version: 1 })).toEqual({
      state: "none",
      imports: [],
      warnings: [],
      updatedAt: null,
    })
    expect(
      await failure(client.getVersionLock({ val_id: sample.library.id, version: 9 })),
    ).toMatchObject({ code: "version_not_found" })
  },
  async getVersionTypes({ client, sample }) {
    expect(await client.getVersionTypes({ val_id: sample.library.id, version: 1 })).toEqual({
      state: "none",
      imports: [],
      files: [],
      links: [],
    })
  },
  async formatCode({ client }) {
    expect((await client.formatCode({ code: "let a = 1" })).code).toMatch(/^let a = 1;?\n?$/)
  },
  async resolveVersion({ client }) {
    const { id } = await client.createVal({ code: `import "npm:nothing"` })
    expect(["pending", "failed"]).toContain(
      (await client.resolveVersion({ val_id: id, version: 1 })).state,
    )
  },
  async deleteVersion({ client }) {
    const { id } = await client.createVal({ code: "1" })
    await client.createVersion({ val_id: id, code: "2" })
    expect(await client.deleteVersion({ val_id: id, version: 1 })).toBeUndefined()
    expect(await failure(client.deleteVersion({ val_id: id, version: 2 }))).toMatchObject({
      status: 409,
      code: "last_version",
    })
  },
  async getLike({ client }) {
    const { id } = await client.createVal({ code: "1" })
    expect(await client.getLike({ val_id: id })).toEqual({ liked: false })
    await client.likeVal({ val_id: id })
    expect(await client.getLike({ val_id: id })).toEqual({ liked: true })
    await client.deleteVal({ val_id: id })
  },
  async likeVal({ client }) {
    const { id } = await client.createVal({ code: "1" })
    expect(await client.likeVal({ val_id: id })).toBeUndefined()
    expect((await client.getVal({ val_id: id })).likeCount).toBe(1)
    await client.deleteVal({ val_id: id })
  },
  async unlikeVal({ client }) {
    const { id } = await client.createVal({ code: "1" })
    await client.likeVal({ val_id: id })
    expect(await client.unlikeVal({ val_id: id })).toBeUndefined()
    expect((await client.getVal({ val_id: id })).likeCount).toBe(0)
  },
  async listComments({ client, sample }) {
    const { data } = await client.listComments({ val_id: sample.library.id })
    expect(data.map((comment) => comment.id)).toEqual([...sample.libraryComments].reverse())
  },
  async createComment({ client }) {
    const { id } = await client.createVal({ code: "1" })
    expect(await client.createComment({ val_id: id, comment: "*nice*" })).toMatchObject({
      comment: "*nice*",
      val: { id },
    })
    await client.deleteVal({ val_id: id })
  },
  async deleteComment({ client, sample }) {
    const { id } = await client.createComment({ val_id: sample.library.id, comment: "oops" })
    expect(await client.deleteComment({ comment_id: id })).toBeUndefined()
    expect(await failure(client.deleteComment({ comment_id: id }))).toMatchObject({
      status: 404,
      code: "comment_not_found",
    })
  },
  async forkVal({ client, sample }) {
    const fork = await client.forkVal({
      val_id: sample.library.id,
      version: 1,
      name: "copied",
    })
    expect(fork).toMatchObject({
      name: "copied",
      version: 1,
      privacy: "private",
      forkedFrom: { id: sample.library.id, name: "library", version: 1 },
    })
    expect(await failure(client.forkVal({ val_id: fork.id, version: 9 }))).toMatchObject({
      status: 404,
      code: "version_not_found",
    })
  },
  async listForks(scene) {
    const { client } = await newcomer(scene)
    const { id } = await client.createVal({ code: "1" })
    const fork = await client.forkVal({ val_id: id })
    const { data } = await client.listForks({ val_id: id })
    expect(data.map((val) => val.id)).toEqual([fork.id])
  },
  async listValReferences({ client, sample }) {
    const { data } = await client.listValReferences({ val_id: sample.library.id, limit: 1 })
    expect(data.map((it) => it.reference.name)).toEqual(["secondImporter"])
  },
  async listValDependencies({ client, sample }) {
    const { data } = await client.listValDependencies({ val_id: sample.importers[0]?.id ?? "" })
    expect(data.map((it) => it.dependsOn.id)).toEqual([sample.library.id])
  },
  async createRun(scene) {
    const { client, user } = await newcomer(scene)
    const { id } = await client.createVal({ name: "adder", code: "export default (a, b) => a + b" })
    const run = await client.createRun({ val_id: id, args: [1, 2], version: 1 })
    expect(run).toMatchObject({
      status: "succeeded",
      returnValue: 3,
      args: [1, 2],
      val: { id, author_id: user.id },
    })
    const begun = await client.raw.createRun({ val_id: id, args: [3, 4] }, { respondAsync: true })
    expect([begun.status, begun.headers.get("location")]).toEqual([
      202,
      expect.stringMatching(new RegExp(`/v1/runs/${begun.body.id}$`)),
    ])
  },
  async sendTestEmail(scene) {
    const { client } = await newcomer(scene)
    const code = "export default (email) => email.subject"
    const { id } = await client.createVal({ name: "inbox", code, type: "email" })
    const run = await client.sendTestEmail({ val_id: id, subject: "Hello" })
    expect(run).toMatchObject({ source: "email", email: { subject: "Hello", isTest: true } })
  },
  async callVal(scene) {
    const { client, user } = await newcomer(scene)
    await client.saveVal({ name: "multiplier", code: "export default (a, b) => a * b" })
    expect(
      await client.callVal({ username: user.username, val_name: "multiplier", args: [3, 4] }),
    ).toBe(12)
  },
  async evalCode(scene) {
    const { client } = await newcomer(scene)
    expect(await client.evalCode({ code: "export default (a, b) => a * b", args: [3, 4] })).toBe(12)
  },
  async evalCodeByQuery(scene) {
    const { client } = await newcomer(scene)
    expect(await client.evalCodeByQuery({ code: "(a, b) => a / b", args: "[12, 4]" })).toBe(3)
  },
  async callValByQuery(scene) {
    const { client, user } = await newcomer(scene)
    await client.saveVal({ name: "multiplier", code: "export default (a, b) => a * b" })
    expect(
      await client.callValByQuery({
        username: user.username,
        val_name: "multiplier",
        args: "[5, 6]",
      }),
    ).toBe(30)
  },
  async cancelRun({ client, sample }) {
    expect(await client.cancelRun({ run_id: sample.runs[2]?.id ?? "" })).toEqual({ found: false })
  },
  async cancelEvaluation({ client, sample }) {
    const found = await client.cancelEvaluation({
      val_id: sample.library.id,
      run_id: sample.runs[2]?.id ?? "",
    })
    expect(found).toEqual({ found: false })
  },
  async cancelEvaluationById({ client, sample }) {
    const run_id = sample.runs[2]?.id ?? ""
    expect(await client.cancelEvaluationById({ run_id })).toEqual({ found: false })
  },
  async replayRun(scene) {
    const { client } = await newcomer(scene)
    const { id } = await client.saveVal({
      name: "greeter",
      code: "export default (name) => `Hello, ${name}`",
    })
    const first = await client.createRun({ val_id: id, args: ["Ada"] })
    const again = await client.replayRun({ run_id: first.id })
    expect(again).toMatchObject({ parentId: first.id, returnValue: "Hello, Ada", args: ["Ada"] })
  },
  async sendValRequest(scene) {
    const { client } = await newcomer(scene)
    const code =
      "export default async (request) => new Response(`${request.method} ${await request.text()}`)"
    const { id } = await client.saveVal({ name: "echo", code, type: "http" })
    const answer = await client.sendValRequest({
      val_id: id,
      method: "PUT",
      path: "/a?b",
      headers: { "x-a": "1" },
      body: "sent",
    })
    expect(answer).toMatchObject({
      status: 200,
      body: "PUT sent",
      isBase64: false,
      isTruncated: false,
    })
    expect((await client.getRun({ run_id: answer.runId ?? "" })).request).toMatchObject({
      method: "PUT",
      status: 200,
    })
  },
  async createPreview(scene) {
    const { client } = await newcomer(scene)
    const { id } = await client.saveVal({
      name: "page",
      code: "export default () => new Response('')",
      type: "http",
    })
    expect((await client.createPreview({ val_id: id })).url).toMatch(/^http:\/\/[a-z2-7]{52}\./)
  },
  async getRun({ client, sample }) {
    const run = await client.getRun({ run_id: sample.runs[1]?.id ?? "" })
    expect(run).toMatchObject({
      status: "failed",
      error: { name: "TypeError" },
      durationMs: 25,
      val: { id: sample.library.id },
    })
  },
  async getRunLogs({ client, sample }) {
    const { data } = await client.getRunLogs({ run_id: sample.runs[0]?.id ?? "" })
    expect(data.map((line) => line.message)).toEqual(["hello"])
  },
  async listUsers({ loopback, sample }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const { data } = await admin.listUsers()
    expect(data.map((user) => user.id)).toContain(sample.bob.id)
  },
  async createUser({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const made = await admin.createUser({ username: "grace", email: "grace@example.com" })
    expect(await openClient(loopback, made.token).getMe()).toMatchObject({
      id: made.id,
      email: "grace@example.com",
    })
  },
  async getUserAccount({ loopback, sample }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await admin.getUserAccount({ user_id: sample.bob.id })).toMatchObject({
      username: "bob",
      suspendedAt: null,
      deletedAt: null,
    })
  },
  async suspendUser({ loopback }) {
    const { client, user } = await newcomer({ loopback })
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await admin.suspendUser({ user_id: user.id, reason: "spam" })).toBeUndefined()
    expect(await failure(client.getMe())).toMatchObject({ status: 403, code: "user_suspended" })
  },
  async unsuspendUser({ loopback }) {
    const { client, user } = await newcomer({ loopback })
    const admin = openClient(loopback, loopback.api.admin.token)
    await admin.suspendUser({ user_id: user.id })
    expect(await admin.unsuspendUser({ user_id: user.id })).toBeUndefined()
    expect((await client.getMe()).id).toBe(user.id)
  },
  async deleteUser({ loopback }) {
    const { client, user } = await newcomer({ loopback })
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await admin.deleteUser({ user_id: user.id, data: "delete" })).toBeUndefined()
    expect(await failure(client.getUser({ user_id: user.id }))).toMatchObject({ status: 401 })
  },
  async createUserToken({ loopback, sample }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const made = await admin.createUserToken({ user_id: sample.bob.id, scopes: ["user:read"] })
    expect((await openClient(loopback, made.token).getMe()).username).toBe("bob")
  },
  async getUserUsage({ loopback, sample }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await admin.getUserUsage({ user_id: sample.bob.id })).toMatchObject({
      blobs: { bytesMax: 1024 ** 3 },
    })
  },
  async getUserQuotas({ loopback, sample }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await admin.getUserQuotas({ user_id: sample.bob.id })).toMatchObject({
      blobBytes: null,
      runsAtOnce: null,
    })
  },
  async putUserQuotas({ loopback }) {
    const { user } = await newcomer({ loopback })
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await admin.putUserQuotas({ user_id: user.id, blobBytes: 5 })).toMatchObject({
      blobBytes: 5,
      runsAtOnce: null,
    })
  },
  async listInvitations({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const { id } = await admin.createInvitation({ note: "listed" })
    expect((await admin.listInvitations()).data).toContainEqual(
      expect.objectContaining({ id, note: "listed" }),
    )
  },
  async createInvitation({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    expect((await admin.createInvitation({ hours: 1 })).url).toContain("/invitation#code=")
  },
  async revokeInvitation({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const { id } = await admin.createInvitation({})
    expect(await admin.revokeInvitation({ invitation_id: id })).toBeUndefined()
    expect(await failure(admin.revokeInvitation({ invitation_id: id }))).toMatchObject({
      status: 404,
      code: "invitation_not_found",
    })
  },
  async acceptInvitation({ loopback }) {
    const { url } = await openClient(loopback, loopback.api.admin.token).createInvitation({})
    const made = await openClient(loopback).acceptInvitation({
      code: new URL(url).hash.slice(6),
      username: "invited",
    })
    expect((await openClient(loopback, made.token).getMe()).username).toBe("invited")
  },
  async listAuditEntries({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const { id } = await admin.createInvitation({})
    const { data } = await admin.listAuditEntries({ action: "invitation.create", limit: 1 })
    expect(data[0]).toMatchObject({ subject: { id }, actor: { username: "admin" } })
  },
  async listNodes({ loopback }) {
    const { data } = await openClient(loopback, loopback.api.admin.token).listNodes()
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({ state: "active", report: { isClockWrong: false } })
  },
  async getUser({ client, sample }) {
    expect((await client.getUser({ user_id: sample.bob.id })).username).toBe("bob")
  },
  async listUserVals({ client, sample }) {
    const { data } = await client.listUserVals({ user_id: sample.bob.id })
    expect(data.map((val) => val.name)).toEqual(["secondImporter", "firstImporter"])
  },
  async getUserByName({ client, sample }) {
    expect((await client.getUserByName({ username: "@Bob" })).id).toBe(sample.bob.id)
  },
  async getValByName({ client, sample }) {
    expect((await client.getValByName({ username: "ada", val_name: "LIBRARY" })).id).toBe(
      sample.library.id,
    )
  },
  async listTokens({ client }) {
    expect((await client.listTokens()).data.map((token) => token.name)).toContain("first token")
  },
  async createToken({ client, loopback }) {
    const made = await client.createToken({
      name: "reader",
      scopes: ["user:read"],
      expiresAt: new Date("2999-12-31"),
    })
    expect(made).toMatchObject({ scopes: ["user:read"], expiresAt: "2999-12-31T00:00:00.000Z" })
    expect((await openClient(loopback, made.token).getMe()).username).toBe("ada")
  },
  async revokeToken({ client, loopback }) {
    const made = await client.createToken({ name: "brief", scopes: ["user:read"] })
    expect(await client.revokeToken({ token_id: made.id })).toBeUndefined()
    expect(await failure(openClient(loopback, made.token).getMe())).toMatchObject({
      status: 401,
      code: "invalid_token",
    })
  },
  // Not for a client: only a page of the server may sign a browser in.
  async createSession({ client }) {
    expect(await failure(client.createSession({ token: "x" }))).toMatchObject({
      status: 403,
      code: "cross_site_request",
    })
  },
  async findSignInLinkOwner({ client }) {
    expect(await failure(client.findSignInLinkOwner({ code: "x" }))).toMatchObject({
      status: 403,
      code: "cross_site_request",
    })
  },
  async startProviderSignIn({ client }) {
    expect(await failure(client.startProviderSignIn())).toMatchObject({ status: 403 })
  },
  async finishProviderSignIn({ client }) {
    const body = { attempt: "x", response: "x" }
    expect(await failure(client.finishProviderSignIn(body))).toMatchObject({ status: 403 })
  },
  async signUpWithProvider({ client }) {
    const body = { ticket: "x", username: "x" }
    expect(await failure(client.signUpWithProvider(body))).toMatchObject({ status: 403 })
  },
  async linkIdentity({ client }) {
    const body = { attempt: "x", response: "x" }
    expect(await failure(client.linkIdentity(body))).toMatchObject({ code: "oidc_unavailable" })
  },
  async listIdentities({ client, loopback, sample }) {
    const id = await addIdentity(loopback.api, sample.ada)
    expect((await client.listIdentities()).data).toContainEqual(expect.objectContaining({ id }))
  },
  async unlinkIdentity({ client, loopback, sample }) {
    const identity_id = await addIdentity(loopback.api, sample.ada)
    expect(await client.unlinkIdentity({ identity_id })).toBeUndefined()
    expect(await failure(client.unlinkIdentity({ identity_id }))).toMatchObject({
      status: 404,
      code: "identity_not_found",
    })
  },
  async listSessions({ client, loopback, sample }) {
    const { session } = await loopback.api.hamlet.nouns.sessions.signIn({
      token: sample.ada.token,
      userAgent: "Lynx",
      replaced: undefined,
    })
    expect((await client.listSessions()).data).toContainEqual(
      expect.objectContaining({ id: session.id, userAgent: "Lynx", current: false }),
    )
  },
  async deleteSession({ client, loopback, sample }) {
    const { session } = await loopback.api.hamlet.nouns.sessions.signIn({
      token: sample.ada.token,
      userAgent: null,
      replaced: undefined,
    })
    expect(await client.deleteSession({ session_id: session.id })).toBeUndefined()
    expect(await failure(client.deleteSession({ session_id: session.id }))).toMatchObject({
      status: 404,
      code: "session_not_found",
    })
  },
  async deleteAllSessions({ client }) {
    expect(await client.deleteAllSessions()).toBeUndefined()
    expect((await client.listSessions()).data).toEqual([])
  },
  async signOut({ client }) {
    expect(await client.signOut()).toBeUndefined()
  },
  async createSignInLink({ client, loopback }) {
    expect((await client.createSignInLink()).url).toStartWith(
      `${loopback.api.hamlet.nouns.api.links.baseUrl}/sign-in#code=`,
    )
  },
  async listAuthorizations({ client, loopback, sample }) {
    const { id } = await addAuthorization(loopback.api.hamlet, sample.ada)
    expect((await client.listAuthorizations()).data).toContainEqual(
      expect.objectContaining({ id, clientName: "Robot", scopes: ["val:read"] }),
    )
  },
  async deleteAuthorization({ client, loopback, sample }) {
    const { id, pair } = await addAuthorization(loopback.api.hamlet, sample.ada)
    expect((await openClient(loopback, pair.accessToken).listMyVals()).data).toBeArray()
    expect(await client.deleteAuthorization({ authorization_id: id })).toBeUndefined()
    expect(await failure(openClient(loopback, pair.accessToken).listMyVals())).toMatchObject({
      code: "invalid_token",
    })
    expect(await failure(client.deleteAuthorization({ authorization_id: id }))).toMatchObject({
      status: 404,
      code: "authorization_not_found",
    })
  },
  async checkAuthorization({ client, loopback }) {
    const query = toAuthorizeQuery(await addOAuthClient(loopback.api.hamlet))
    expect(await client.checkAuthorization({ query })).toMatchObject({
      clientName: "Robot",
      redirectTarget: "client.invalid",
      refusal: null,
    })
  },
  async createAuthorization({ client, loopback }) {
    const query = toAuthorizeQuery(await addOAuthClient(loopback.api.hamlet))
    const { url } = await client.createAuthorization({ query, scopes: ["val:read"] })
    expect(url).toStartWith(`${redirectUri}?code=hamlet_code_`)
  },
  async putSchedule({ client }) {
    const { id: val_id } = await client.createVal({ code: "1", type: "interval" })
    const body = { cron: "0 0 1 1 *", timeZone: "Europe/Berlin" }
    expect(await client.putSchedule({ val_id, ...body })).toMatchObject({
      val: { id: val_id },
      ...body,
      overlap: "skip",
    })
    expect((await client.putSchedule({ val_id, isPaused: true })).nextAt).toEqual([])
  },
  async getSchedule({ client }) {
    const { id: val_id } = await client.createVal({ code: "1", type: "interval" })
    const made = await client.putSchedule({ val_id, every: "300d" })
    expect(await client.getSchedule({ val_id })).toEqual(made)
  },
  async deleteSchedule({ client }) {
    const { id: val_id } = await client.createVal({ code: "1", type: "interval" })
    await client.putSchedule({ val_id, every: "300d" })
    expect(await client.deleteSchedule({ val_id })).toBeUndefined()
    expect(await failure(client.getSchedule({ val_id }))).toMatchObject({
      status: 404,
      code: "schedule_not_found",
    })
  },
  async listMySchedules({ client }) {
    const { id: val_id } = await client.createVal({ code: "1", type: "interval" })
    await client.putSchedule({ val_id, every: "300d" })
    expect((await client.listMySchedules()).data[0]).toMatchObject({
      val: { id: val_id },
      description: "every 300 days",
    })
  },
  async previewSchedule({ client }) {
    const preview = await client.previewSchedule({ cron: "0 9 * * 1-5", timeZone: "Asia/Tokyo" })
    expect(preview.description).toBe("every weekday at 09:00 in Asia/Tokyo")
    expect(preview.nextAt).toHaveLength(10)
  },
  async listSecrets({ client, sample }) {
    expect((await client.listSecrets()).data.map((secret) => secret.name).sort()).toEqual([
      ...sample.secrets,
    ])
  },
  async putSecret({ client }) {
    expect(
      await client.putSecret({ name: "Z_PUT", value: "x", hosts: ["api.example.com:443"] }),
    ).toBeUndefined()
    expect((await client.listSecrets()).data[0]).toMatchObject({
      name: "Z_PUT",
      hosts: ["api.example.com:443"],
    })
  },
  async deleteSecret({ client }) {
    await client.putSecret({ name: "Z_GONE", value: "x" })
    expect(await client.deleteSecret({ name: "Z_GONE" })).toBeUndefined()
    expect(await failure(client.deleteSecret({ name: "Z_GONE" }))).toMatchObject({
      status: 404,
      code: "secret_not_found",
    })
  },
  async putValSecret({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const secret = { name: "OF_VAL", value: "x" }
    expect(await client.putValSecret({ val_id, ...secret })).toBeUndefined()
    expect((await client.listValSecrets({ val_id })).data).toMatchObject([{ name: "OF_VAL" }])
  },
  async listValSecrets({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    expect((await client.listValSecrets({ val_id })).data).toEqual([])
  },
  async deleteValSecret({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    await client.putValSecret({ val_id, name: "OF_VAL", value: "x" })
    expect(await client.deleteValSecret({ val_id, name: "OF_VAL" })).toBeUndefined()
    expect(await failure(client.deleteValSecret({ val_id, name: "OF_VAL" }))).toMatchObject({
      code: "secret_not_found",
    })
  },
  async createEnvironmentVariable({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    const made = await client.createEnvironmentVariable({ val_id, key: "OF_VAL", value: "x" })
    expect(made).toMatchObject({ key: "OF_VAL", description: null, updatedAt: null })
  },
  async putEnvironmentVariable({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    await client.createEnvironmentVariable({ val_id, key: "K", value: "x" })
    const change = { variable: "K", value: "y", description: "why" }
    const changed = await client.putEnvironmentVariable({ val_id, ...change })
    expect(changed).toMatchObject({ key: "K", description: "why" })
  },
  async listEnvironmentVariables({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    expect((await client.listEnvironmentVariables({ val_id })).data).toEqual([])
  },
  async deleteEnvironmentVariable({ client }) {
    const { id: val_id } = await client.createVal({ code: "1" })
    await client.createEnvironmentVariable({ val_id, key: "K", value: "x" })
    expect(await client.deleteEnvironmentVariable({ val_id, variable: "K" })).toBeUndefined()
  },
  async listNotifications({ client, sample }) {
    const { data } = await client.listNotifications({ limit: 100 })
    expect(data).toContainEqual(
      expect.objectContaining({ type: "like", user: expect.objectContaining({ username: "bob" }) }),
    )
    expect(data.every(({ val }) => val.author.id === sample.ada.id)).toBe(true)
  },
  async countNotifications({ client }) {
    expect((await client.countNotifications()).unread).toBeGreaterThanOrEqual(0)
  },
  async readNotifications({ client }) {
    expect(await client.readNotifications({})).toBeUndefined()
    expect((await client.countNotifications()).unread).toBe(0)
  },
  async getNotificationSettings({ client }) {
    expect((await client.getNotificationSettings()).muted).toBeArray()
  },
  async putNotificationSettings({ client }) {
    expect(await client.putNotificationSettings({ muted: [] })).toEqual({ muted: [] })
  },
  async listWebhooks({ client }) {
    const made = await client.createWebhook(sampleWebhook)
    expect((await client.listWebhooks()).data[0]?.id).toBe(made.id)
  },
  async createWebhook({ client }) {
    const { secret, ...made } = await client.createWebhook(sampleWebhook)
    expect(secret).toStartWith("whsec_")
    expect(await client.getWebhook({ webhook_id: made.id })).toEqual(made)
  },
  async getWebhook({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    expect(await client.getWebhook({ webhook_id: id })).toMatchObject({
      url: sampleWebhook.url,
      status: "paused",
    })
  },
  async updateWebhook({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    expect(await client.updateWebhook({ webhook_id: id, events: ["run.failed"] })).toMatchObject({
      events: ["run.failed"],
      url: sampleWebhook.url,
    })
  },
  async deleteWebhook({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    expect(await client.deleteWebhook({ webhook_id: id })).toBeUndefined()
    expect(await failure(client.getWebhook({ webhook_id: id }))).toMatchObject({
      status: 404,
      code: "webhook_not_found",
    })
  },
  async rotateWebhookSecret({ client }) {
    const made = await client.createWebhook(sampleWebhook)
    const rotated = await client.rotateWebhookSecret({ webhook_id: made.id })
    expect(rotated.secret).not.toBe(made.secret)
    expect(rotated.previousSecretUntil).not.toBeNull()
  },
  async testWebhook({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    expect(await client.testWebhook({ webhook_id: id })).toMatchObject({ type: "webhook.test" })
  },
  async listDeliveries({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    const sent = await client.testWebhook({ webhook_id: id })
    const found = await client.listDeliveries({ webhook_id: id })
    expect(found.data.map((delivery) => delivery.id)).toEqual([sent.id])
  },
  async getDelivery({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    const sent = await client.testWebhook({ webhook_id: id })
    const found = await client.getDelivery({ webhook_id: id, delivery_id: sent.id })
    expect(JSON.parse(found.payload)).toMatchObject({ type: "webhook.test" })
  },
  async retryDelivery({ client }) {
    const { id } = await client.createWebhook(sampleWebhook)
    const sent = await client.testWebhook({ webhook_id: id })
    const again = await client.retryDelivery({ webhook_id: id, delivery_id: sent.id })
    expect(again).toMatchObject({ id: sent.id, status: "waiting" })
  },
  async listBlobs({ client }) {
    for (const key of ["list/b", "list/a"]) await client.putBlob({ key, content: "12345" })
    const [first] = await client.listBlobs({ prefix: "list/", limit: 1 })
    expect(first).toEqual({ key: "list/a", size: 5, lastModified: expect.any(String) })
    expect(await client.listBlobs({ prefix: "list/", after: first?.key })).toMatchObject([
      { key: "list/b" },
    ])
  },
  async getBlob({ client }) {
    const key = "a/../b?c#d%2F ü/"
    await client.putBlob({ key, content: "hello", contentType: "x/y" })
    const response = await client.getBlob({ key })
    expect([await response.text(), response.headers.get("content-type")]).toEqual(["hello", "x/y"])
    const ifNoneMatch = response.headers.get("etag") ?? ""
    expect((await client.raw.getBlob({ key }, { ifNoneMatch })).status).toBe(304)
    expect(await failure(client.getBlob({ key: "nothing" }))).toMatchObject({
      status: 404,
      code: "blob_not_found",
    })
  },
  async putBlob({ client }) {
    const bytes = crypto.getRandomValues(new Uint8Array(2_000_000))
    const contents = [
      new Uint8Array(3),
      new Blob(["typed"], { type: "image/x" }),
      new Blob([bytes]).stream(),
      bytes.buffer,
    ]
    for (const content of contents) {
      const expected =
        content instanceof ReadableStream ? bytes : await new Response(content as BodyInit).bytes()
      expect(await client.putBlob({ key: "put", content })).toBe("ok")
      expect(Buffer.compare(await (await client.getBlob({ key: "put" })).bytes(), expected)).toBe(0)
    }
  },
  async deleteBlob({ client }) {
    await client.putBlob({ key: "gone", content: "" })
    expect(await client.deleteBlob({ key: "gone" })).toBeUndefined()
    expect(await failure(client.deleteBlob({ key: "gone" }))).toMatchObject({
      status: 404,
      code: "blob_not_found",
    })
  },
  async executeSql({ client }) {
    await client.executeSql({ statement: "create table executed (id integer primary key, a)" })
    const sql = "insert into executed (a) values (?), (?)"
    expect(
      await client.executeSql({ statement: { sql, args: [true, { base64: "AQI=" }] } }),
    ).toMatchObject({
      rowsAffected: 2,
      lastInsertRowid: 2,
    })
    expect(
      (
        await client.executeSql({
          statement: { sql: "select a from executed where id >= :id", args: { id: 1 } },
        })
      ).rows,
    ).toEqual([[1], ["AQI="]])
    expect(await failure(client.executeSql({ statement: "selec" }))).toMatchObject({
      status: 400,
      code: "sql_failed",
    })
  },
  async listValBlobs({
    client,
    sample: {
      library: { id: val_id },
    },
  }) {
    for (const key of ["b", "a"]) await client.putValBlob({ val_id, key, content: "12345" })
    const [first] = await client.listValBlobs({ val_id, limit: 1 })
    expect(first).toMatchObject({ key: "a", size: 5 })
  },
  async getValBlob({
    client,
    sample: {
      library: { id: val_id },
    },
  }) {
    await client.putValBlob({ val_id, key: "of/val", content: "hello", contentType: "x/y" })
    const response = await client.getValBlob({ val_id, key: "of/val" })
    expect([response.headers.get("content-type"), await response.text()]).toEqual(["x/y", "hello"])
  },
  async putValBlob({
    client,
    sample: {
      library: { id: val_id },
    },
  }) {
    expect(await client.putValBlob({ val_id, key: "put", content: "x" })).toBe("ok")
    // Without a val, it is one of the account.
    expect(await client.putValBlob({ key: "put", content: "x" })).toBe("ok")
  },
  async deleteValBlob({
    client,
    sample: {
      library: { id: val_id },
    },
  }) {
    await client.putValBlob({ val_id, key: "gone", content: "" })
    expect(await client.deleteValBlob({ val_id, key: "gone" })).toBeUndefined()
    expect(await failure(client.deleteValBlob({ val_id, key: "gone" }))).toMatchObject({
      status: 404,
      code: "blob_not_found",
    })
  },
  async executeValSql({
    client,
    sample: {
      library: { id: val_id },
    },
  }) {
    const { rows } = await client.executeValSql({ val_id, statement: "select 1" })
    expect(rows).toEqual([[1]])
  },
  async batchValSql({
    client,
    sample: {
      library: { id: val_id },
    },
  }) {
    const results = await client.batchValSql({ val_id, statements: ["select 1", "select 2"] })
    expect(results.map(({ rows }) => rows)).toEqual([[[1]], [[2]]])
  },
  async batchSql({ client }) {
    const [first, second] = await client.batchSql({
      statements: ["select 1 as a", { sql: "select ?", args: ["b"] }],
      mode: "read",
    })
    expect([first?.columns, first?.rows, second?.rows]).toEqual([["a"], [[1]], [["b"]]])
    const refused = client.batchSql({ statements: ["create table batched (a)"], mode: "read" })
    expect(await failure(refused)).toMatchObject({ status: 400, code: "sql_failed" })
  },
  async sendEmail({ client }) {
    expect(await failure(client.sendEmail({ subject: "Hi", text: "é" }))).toMatchObject({
      status: 501,
      code: "mail_unavailable",
    })
  },
  async listMyEmails({ client }) {
    expect((await client.listMyEmails({ status: "waiting" })).data).toHaveLength(1)
  },
  async getMyEmail({ client, sample }) {
    expect(await client.getMyEmail({ email_id: sample.emailId })).toMatchObject({
      to: ["bob@example.com"],
      status: "waiting",
      runId: sample.runs[0]?.id,
    })
  },
  async resendEmail({ client, sample }) {
    expect(await failure(client.resendEmail({ email_id: sample.ada.id }))).toMatchObject({
      code: "email_not_found",
    })
  },
  async sendEmailCode({ client }) {
    expect(await failure(client.sendEmailCode())).toMatchObject({ code: "mail_unavailable" })
  },
  async confirmEmail({ client }) {
    expect(await failure(client.confirmEmail({ code: "12345678" }))).toMatchObject({
      code: "invalid_email_code",
    })
  },
  async putUserEmail({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const { id } = await loopback.api.addUser("mailed")
    expect(await admin.putUserEmail({ user_id: id, email: "m@example.com" })).toMatchObject({
      email: "m@example.com",
      emailVerified: true,
    })
  },
  async createSlackToken({ client }) {
    expect(await failure(client.createSlackToken({ team_id: "T1" }))).toMatchObject({
      status: 404,
      code: "connection_not_found",
    })
  },
  async createGoogleDocsToken({ client }) {
    expect(await failure(client.createGoogleDocsToken({ email: "a@b.c" }))).toMatchObject({
      code: "connection_not_found",
    })
  },
  async createChatCompletion({ client }) {
    const sent = client.createChatCompletion({ content: "{}", contentType: "application/json" })
    expect(await failure(sent)).toMatchObject({ status: 501, code: "openai_unavailable" })
  },
  async getModule({ client }) {
    expect(await client.getModule({ username: "ada", val_name: "library@1" })).toBe(
      "export const one = 1",
    )
  },
  async getModuleFile({ client }) {
    const file = { username: "ada", val_name: "library@1-main", file_path: "main.tsx" }
    expect(await (await client.getModuleFile(file)).text()).toBe("export const one = 1")
  },
  async getStandardModule({ client }) {
    expect(await client.getStandardModule({ module: "blob" })).toContain("export const blob = {")
  },
  async getOpenApi({ client }) {
    expect((await client.getOpenApi()).openapi).toStartWith("3.1")
  },
  async getBackup({ loopback }) {
    const response = await openClient(loopback, loopback.api.admin.token).getBackup()
    const checker = createBackupChecker()
    checker.add(await response.bytes())
    expect(checker.end().header.sections.map(({ name }) => name)).toContain("vals")
  },
  async getDocs({ client }) {
    expect(await client.getDocs()).toStartWith("<!doctype html>")
  },
  async getHealth({ client }) {
    expect((await client.getHealth()).status).toBe("ok")
  },
  async getReadiness({ client, loopback }) {
    expect((await client.getReadiness()).database).toBe(
      (await loopback.api.hamlet.nouns.api.checkDatabase()).database,
    )
  },
  async getMetrics({ client }) {
    expect(await client.getMetrics()).toContain("hamlet_http_requests_total")
  },
}

describeSqlite("createClient with a real server", (open) => {
  let scene: Scene

  beforeAll(async () => {
    const loopback = await openLoopback(open, { HAMLET_DATA_DIR_SHARED: "yes" })
    const sample = await createSampleData(loopback.api, loopback.baseUrl)
    scene = { loopback, sample, client: openClient(loopback, sample.ada.token) }
  })

  afterAll(() => scene.loopback.close())

  describe("calls", () => {
    for (const name of routeNames) {
      const { method, path }: RouteDefinition = routes[name]
      test(`${name} as ${method.toUpperCase()} ${path}`, async () => {
        const { seen } = scene.loopback
        const before = seen.length
        await calls[name](scene)
        const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
        expect(
          seen
            .slice(before)
            .some(
              (request) => request.method === method.toUpperCase() && pattern.test(request.path),
            ),
        ).toBe(true)
      })
    }
  })

  test("iterates the pages of every list to its end", async () => {
    const { client, sample } = scene
    const val_id = sample.library.id
    const lists = {
      listMyRuns: await Array.fromAsync(client.pages("listMyRuns", { limit: 1 })),
      listMyVals: await Array.fromAsync(client.pages("listMyVals", { limit: 1, query: "library" })),
      listMyLikes: await Array.fromAsync(client.pages("listMyLikes", { limit: 1 })),
      listMyComments: await Array.fromAsync(client.pages("listMyComments", { limit: 1 })),
      listMyReferences: await Array.fromAsync(client.pages("listMyReferences", { limit: 1 })),
      listVals: await Array.fromAsync(
        client.pages("listVals", { limit: 1, userId: sample.bob.id }),
      ),
      searchVals: await Array.fromAsync(
        client.pages("searchVals", { limit: 1, query: "importer" }),
      ),
      listVersions: await Array.fromAsync(client.pages("listVersions", { limit: 1, val_id })),
      listValRuns: await Array.fromAsync(
        client.pages("listValRuns", { limit: 1, val_id, source: ["api", "http"] }),
      ),
      listComments: await Array.fromAsync(client.pages("listComments", { limit: 1, val_id })),
      listValReferences: await Array.fromAsync(
        client.pages("listValReferences", { limit: 1, val_id }),
      ),
      listUserVals: await Array.fromAsync(
        client.pages("listUserVals", { limit: 1, user_id: sample.bob.id }),
      ),
    }
    const sizes = Object.entries(lists).map(([name, pages]) => [
      name,
      ...pages.map((page) => page.data.length),
    ])
    expect(sizes).toEqual([
      ["listMyRuns", 1, 1, 1],
      ["listMyVals", 1],
      ["listMyLikes", 1, 1],
      ["listMyComments", 1, 1],
      ["listMyReferences", 1, 1],
      ["listVals", 1, 1],
      ["searchVals", 1, 1],
      ["listVersions", 1, 1],
      ["listValRuns", 1, 1, 1],
      ["listComments", 1, 1],
      ["listValReferences", 1, 1],
      ["listUserVals", 1, 1],
    ])
  })

  test("follows a run from the given line to its end", async () => {
    const { client, sample } = scene
    const events = await Array.fromAsync(client.follow({ run_id: sample.runs[0]?.id ?? "" }))
    expect(events).toMatchObject([
      { kind: "log", index: 0, line: { message: "hello" } },
      { kind: "end", status: "succeeded" },
    ])
    expect(
      await Array.fromAsync(client.follow({ run_id: sample.runs[0]?.id ?? "", from: 1 })),
    ).toHaveLength(1)
    const refused = await failure(Array.fromAsync(client.follow({ run_id: crypto.randomUUID() })))
    expect(refused).toMatchObject({ status: 404, code: "run_not_found" })
  })

  test("iterates the items of all pages, from the given offset", async () => {
    const { client, sample } = scene
    const items = await Array.fromAsync(
      client.items("listMyRuns", { limit: 1, offset: 1, error: false }),
    )
    expect(items.map((run) => run.id)).toEqual([sample.runs[0]?.id ?? ""])
  })

  test("executes a POST once per Idempotency-Key", async () => {
    const { client } = scene
    const first = await client.createVal({ code: "once" }, { idempotencyKey: "the key" })
    expect(await client.createVal({ code: "once" }, { idempotencyKey: "the key" })).toEqual(first)
    const other = await failure(client.createVal({ code: "twice" }, { idempotencyKey: "the key" }))
    expect(other).toMatchObject({ status: 422, code: "idempotency_mismatch" })
  })

  test("throws an ApiError with code, issues and request id", async () => {
    const error = await failure(scene.client.createVal({ code: "", name: "1st" }))
    expect(error).toMatchObject({ name: "ApiError", status: 400, code: "invalid_request" })
    expect(error.issues.map((issue) => issue.path).sort()).toEqual(["code", "name"])
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/)
  })

  test.each([
    ["unauthenticated", 401, ({ loopback }: Scene) => openClient(loopback).getMe()],
    ["val_not_found", 404, ({ client }: Scene) => client.getVal({ val_id: crypto.randomUUID() })],
    [
      "not_owner",
      403,
      ({ client, sample }: Scene) => client.deleteVal({ val_id: sample.importers[0]?.id ?? "" }),
    ],
    ["missing_scope", 403, ({ client }: Scene) => client.createUser({ username: "mallory" })],
    [
      "scope_escalation",
      403,
      ({ client }: Scene) => client.createToken({ name: "root", scopes: ["admin"] }),
    ],
    ["name_taken", 409, ({ client }: Scene) => client.createVal({ code: "1", name: "Library" })],
    ["run_not_found", 404, ({ client }: Scene) => client.getRun({ run_id: crypto.randomUUID() })],
    ["user_not_found", 404, ({ client }: Scene) => client.getUserByName({ username: "nobody" })],
    [
      "body_too_large",
      413,
      ({ client }: Scene) => client.createVal({ code: "x".repeat(3_000_000) }),
    ],
  ] as const)("throws an ApiError %s (%i) without a retry", async (code, status, call) => {
    const before = scene.loopback.seen.length
    expect(await failure(call(scene))).toMatchObject({ code, status })
    expect(scene.loopback.seen.length - before).toBe(1)
  })

  test("waits for retry-after while the database is unavailable, and gives up with an ApiError", async () => {
    const loopback = await openLoopback(open)
    const { token } = await loopback.api.addUser("eve")
    await loopback.api.hamlet.stop()
    const slept: number[] = []
    const clock = { now: Date.now, sleep: (ms: number) => Promise.resolve(void slept.push(ms)) }
    const client = createClient({ baseUrl: loopback.baseUrl, token, clock })

    const error = await failure(client.getMe())

    expect(error).toMatchObject({ status: 503, code: "database_unavailable", retryAfterMs: 1000 })
    expect(slept).toEqual([1000, 1000])
    expect(loopback.seen).toHaveLength(3)
    await loopback.close()
  })

  test("throws ConnectionError when no server listens", async () => {
    const loopback = await openLoopback(open)
    await loopback.close()
    const client = createClient({ baseUrl: loopback.baseUrl, retriesMax: 0 })
    expect(await client.getHealth().catch((error: unknown) => error)).toBeInstanceOf(
      ConnectionError,
    )
  })
})

function openClient(loopback: Loopback, token?: string): Client {
  return createClient({ baseUrl: loopback.baseUrl, token })
}

/** A user who runs vals, so that the lists of the other users do not change. */
async function newcomer({
  loopback,
}: Pick<Scene, "loopback">): Promise<{ readonly client: Client; readonly user: TestUser }> {
  const user = await loopback.api.addUser(`user${crypto.randomUUID().slice(0, 8)}`)
  return { client: openClient(loopback, user.token), user }
}

/** An organisation of a newcomer. */
async function newOrganisation(scene: Pick<Scene, "loopback">) {
  const { client, user } = await newcomer(scene)
  const username = `org${crypto.randomUUID().slice(0, 8)}`
  return { client, user, org: await client.createOrganisation({ username }) }
}

/** What the call fails with. */
async function failure(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => new Error("the call did not fail"),
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError) return error
  throw error
}
