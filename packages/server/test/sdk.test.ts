import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type RouteDefinition, type RouteName, routeNames, routes } from "@hamlet/contract"
import { createBackupChecker } from "@hamlet/contract/backup"
import type { Item, Output, PageName } from "@hamlet/contract/client"
import { waitUntil } from "@hamlet/kit/testing"
import ValTown from "@valtown/sdk"
import { PageCursorURL } from "@valtown/sdk/pagination"
import { addAuthorization, addOAuthClient, toAuthorizeQuery } from "./api/oauth-flow.ts"
import { addIdentity } from "./authorization/linked-identity.ts"
import { createSampleData, firstRunAt, type SampleData } from "./support/data/sample-data.ts"
import { describeSqlite } from "./support/databases.ts"
import { type Loopback, openLoopback } from "./support/loopback.ts"

type Run = Item<"listMyRuns">
type Schedule = Output<"getSchedule">

interface Scene {
  readonly loopback: Loopback
  readonly sample: SampleData
  /** The official client, as Ada. */
  readonly client: ValTown
}

/**
 * Each route of the table, called as a program that was written for the official client would call
 * it.
 */
const calls: Record<RouteName, (scene: Scene) => Promise<void>> = {
  async getMe({ client, sample, loopback }) {
    const me = await client.me.profile.retrieve()
    const self = `${loopback.baseUrl}/v1/users/${sample.ada.id}`
    expect(me).toMatchObject({
      id: sample.ada.id,
      username: "ada",
      type: "user",
      email: null,
      tier: null,
      links: { self },
    })
  },
  async updateMe({ client }) {
    const changed = await client.put<object, Output<"updateMe">>("/v1/me", {
      body: { bio: "I count." },
    })
    expect(await client.me.profile.retrieve()).toMatchObject({ id: changed.id, bio: "I count." })
  },
  async listMyVals({ client, sample }) {
    expect(
      await listIds(client, "listMyVals", "/v1/me/vals", { query: "library", sort: "likes" }),
    ).toEqual([sample.library.id])
  },
  async listTraces({ client }) {
    const query = { start: new Date(firstRunAt - 1).toISOString(), direction: "asc", limit: 2 }
    const found = await client.get<object, Output<"listTraces">>("/v1/telemetry/traces", { query })
    expect(found.data.map(({ status }) => status.code)).toEqual([1, 2])
  },
  async listTelemetryLogs({ client }) {
    const path = "/v1/telemetry/logs"
    const { links } = await client.get<object, Output<"listTelemetryLogs">>(path)
    expect(links.self).toContain(path)
  },
  async getMyStats({ client }) {
    const query = {
      since: new Date(firstRunAt - 1).toISOString(),
      until: new Date(firstRunAt + 200_000).toISOString(),
    }
    const { total } = await client.get<object, Output<"getMyStats">>("/v1/me/stats", { query })
    expect(total).toEqual({ runs: 3, errors: 1, p50Ms: 25, p95Ms: 25 })
  },
  async getValStats({ client, sample }) {
    const { buckets } = await client.get<object, Output<"getValStats">>(
      `/v1/vals/${sample.library.id}/stats`,
    )
    expect(buckets).toHaveLength(48)
  },
  async listMyActivity({ client }) {
    expect((await client.get<object, Output<"listMyActivity">>("/v1/me/activity")).bucketMs).toBe(
      3_600_000,
    )
  },
  async listMyLogs({ client }) {
    expect(await client.get<object, Output<"listMyLogs">>("/v1/me/logs")).toEqual({ data: [] })
  },
  async getMyUsage({ client }) {
    expect(await client.get<object, Output<"getMyUsage">>("/v1/me/usage")).toMatchObject({
      egress: { bytesPerMinuteMax: null },
    })
  },
  async listMyValStates({ client, sample }) {
    const { data } = await client.get<object, Output<"listMyValStates">>("/v1/me/val-states")
    expect(data).toContainEqual(expect.objectContaining({ id: sample.library.id }))
  },
  async listMyRuns({ client, sample }) {
    const [first, second, third] = sample.runs.map((run) => run.id)
    expect(await listIds(client, "listMyRuns", "/v1/me/runs")).toEqual([third, second, first])
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { error: true })).toEqual([second])
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { error: false })).toEqual([
      third,
      first,
    ])
    // The client repeats a parameter for each element of an array.
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { source: ["http", "api"] })).toEqual(
      [third, second, first],
    )
    const since = new Date(firstRunAt).toISOString()
    const until = new Date(firstRunAt + 60_000).toISOString()
    expect(await listIds(client, "listMyRuns", "/v1/me/runs", { since, until })).toEqual([second])
  },
  async listMyLikes({ client, sample }) {
    const [first, second] = sample.importers.map((val) => val.id)
    expect(await listIds(client, "listMyLikes", "/v1/me/likes")).toEqual([second, first])
  },
  async listMyComments({ client, sample }) {
    const [first, second] = sample.libraryComments
    expect(
      await listIds(client, "listMyComments", "/v1/me/comments", { relationship: "any" }),
    ).toEqual([second, first])
    expect(
      await listIds(client, "listMyComments", "/v1/me/comments", { relationship: "given" }),
    ).toEqual([])
  },
  async listMyReferences({ client, sample }) {
    const found = await list(client, "listMyReferences", "/v1/me/references")
    expect(found.map((it) => it.reference.id)).toEqual(
      sample.importers.map((val) => val.id).reverse(),
    )
    expect(found.map((it) => it.dependsOn.id)).toEqual([sample.library.id, sample.library.id])
  },
  async listVals({ client, sample }) {
    const own = await list(client, "listVals", "/v1/vals", {
      userId: sample.bob.id,
      privacy: "public",
    })
    expect(own.map((val) => val.id)).toEqual(sample.importers.map((val) => val.id).reverse())
  },
  async createVal({ client }) {
    const body = {
      name: "fizz_buzz",
      code: "console.log(3)",
      readme: "# FizzBuzz",
      privacy: "public",
    }
    expect(await client.post<object, Output<"createVal">>("/v1/vals", { body })).toMatchObject({
      ...body,
      version: 1,
    })
  },
  async saveVal({ client }) {
    const made = await client.put<object, Output<"saveVal">>("/v1/vals", {
      body: { name: "saved", code: "1" },
    })
    const changed = await client.put<object, Output<"saveVal">>("/v1/vals", {
      body: { name: "saved", code: "2" },
    })
    expect(changed).toMatchObject({ id: made.id, code: "2", version: 2 })
  },
  async importVals({ client }) {
    const body = { vals: [{ name: "imported", versions: [{ code: "1" }] }] }
    const { results } = await client.post<object, Output<"importVals">>("/v1/vals/import", { body })
    expect(results).toMatchObject([{ name: "imported", status: "created", version: 1 }])
  },
  async searchVals({ client, sample }) {
    const found = await Array.fromAsync(client.search.vals.list({ query: "Importer", limit: 1 }))
    expect(found.map((val) => val.id).sort()).toEqual(sample.importers.map((val) => val.id).sort())
    expect(found[0]?.author?.username).toBe("bob")
  },
  async getVal({ client, sample }) {
    const val = await client.get<object, Output<"getVal">>(`/v1/vals/${sample.library.id}`)
    expect(val).toMatchObject({
      id: sample.library.id,
      name: "library",
      version: 2,
      likeCount: 1,
      referenceCount: 2,
    })
  },
  async forkVal({ client, sample }) {
    const fork = await client.post<object, Output<"forkVal">>(
      `/v1/vals/${sample.library.id}/fork`,
      { body: { name: "copied", version: 1 } },
    )
    expect(fork).toMatchObject({
      name: "copied",
      privacy: "private",
      forkedFrom: { id: sample.library.id, version: 1 },
    })
    const found = await client.get<object, Output<"getVal">>(`/v1/vals/${fork.id}`)
    expect(found).toMatchObject({ id: fork.id, forkCount: 0, forkedFrom: fork.forkedFrom })
  },
  async listForks({ client }) {
    const { id } = await addVal(client)
    const fork = await client.post<object, Output<"forkVal">>(`/v1/vals/${id}/fork`, { body: {} })
    expect(await listIds(client, "listForks", `/v1/vals/${id}/forks`)).toEqual([fork.id])
  },
  async updateVal({ client }) {
    const { id } = await addVal(client)
    expect(
      await client.put<object, null>(`/v1/vals/${id}`, {
        body: { readme: "new", privacy: "unlisted" },
      }),
    ).toBeNull()
    expect(await client.get<object, Output<"getVal">>(`/v1/vals/${id}`)).toMatchObject({
      readme: "new",
      privacy: "unlisted",
    })
  },
  async deleteVal({ client }) {
    const { id } = await addVal(client)
    // The client sends `content-type: application/json` with an empty body.
    expect(await client.delete<object, null>(`/v1/vals/${id}`)).toBeNull()
    expect(await failure(() => client.get(`/v1/vals/${id}`))).toBeInstanceOf(ValTown.NotFoundError)
  },
  async listValRuns({ client, sample }) {
    const path = `/v1/vals/${sample.library.id}/runs`
    expect(await listIds(client, "listValRuns", path)).toEqual(
      sample.runs.map((run) => run.id).reverse(),
    )
  },
  async createFolder({ client }) {
    const body = { name: "sdk-folder", privacy: "private", description: "" }
    expect(await client.post<object, Output<"createFolder">>("/v2/vals", { body })).toMatchObject({
      name: "sdk-folder",
      description: null,
      imageUrl: null,
    })
  },
  async listFolders({ client, sample }) {
    const query = { user_id: sample.ada.id, privacy: "public" }
    expect(await listIds(client, "listFolders", "/v2/vals", query)).toContain(sample.library.id)
  },
  async getFolder({ client, sample }) {
    const path = `/v2/vals/${sample.library.id}`
    expect((await client.get<object, Output<"getFolder">>(path)).name).toBe("library")
  },
  async deleteFolder({ client }) {
    const { id } = await addVal(client)
    await client.delete(`/v2/vals/${id}`)
    expect((await failure(() => client.get(`/v2/vals/${id}`))).status).toBe(404)
  },
  async listMyFolders({ client, sample }) {
    expect(await listIds(client, "listMyFolders", "/v2/me/vals")).toContain(sample.library.id)
  },
  async getFolderByName({ client, sample }) {
    const path = "/v2/alias/vals/ada/library"
    expect((await client.get<object, Output<"getFolderByName">>(path)).id).toBe(sample.library.id)
  },
  async listOrgs({ client }) {
    expect(await listIds(client, "listOrgs", "/v2/orgs")).toEqual([])
  },
  async listMemberships({ client, sample }) {
    const path = `/v2/orgs/${sample.ada.id}/memberships`
    expect((await failure(() => client.get(path))).status).toBe(404)
  },
  async listBranches({ client, sample }) {
    const path = `/v2/vals/${sample.library.id}/branches`
    expect(await listIds(client, "listBranches", path)).toEqual([sample.library.id])
  },
  async createBranch({ client }) {
    const { id } = await addVal(client)
    const made = await client.post<object, Output<"createBranch">>(`/v2/vals/${id}/branches`, {
      body: { name: "try" },
    })
    expect(made).toMatchObject({ name: "try", version: 0, forkedBranchId: id })
  },
  async getBranch({ client, sample }) {
    const { id } = sample.library
    const found = await client.get<object, Output<"getBranch">>(`/v2/vals/${id}/branches/${id}`)
    expect(found).toMatchObject({ name: "main", forkedBranchId: null })
  },
  async deleteBranch({ client }) {
    const { id } = await addVal(client)
    const path = `/v2/vals/${id}/branches`
    const made = await client.post<object, Output<"createBranch">>(path, { body: { name: "x" } })
    await client.delete(`${path}/${made.id}`)
    expect(await listIds(client, "listBranches", path)).toEqual([id])
  },
  async getBranchDifference({ client }) {
    const { id, code } = await addVal(client)
    const found = await client.get<object, Output<"getBranchDifference">>(
      `/v1/vals/${id}/branches/${id}/diff`,
    )
    expect(found.data).toMatchObject([{ kind: "added", before: null, after: code }])
  },
  async mergeBranch({ client }) {
    const { id } = await addVal(client)
    const path = `/v2/vals/${id}/branches`
    const made = await client.post<object, Output<"createBranch">>(path, { body: { name: "x" } })
    const merged = await client.post<object, Output<"mergeBranch">>(
      `/v1/vals/${id}/branches/${made.id}/merge`,
      { body: {} },
    )
    expect(merged).toEqual({ version: 1, isNewVersion: false })
  },
  async listHistory({ client }) {
    const { id } = await addVal(client)
    const found = await list(client, "listHistory", `/v1/vals/${id}/history`)
    expect(found.map((it) => it.version)).toEqual([1])
  },
  async restoreFiles({ client }) {
    const { id } = await addVal(client)
    const restored = await client.post<object, Output<"restoreFiles">>(
      `/v1/vals/${id}/versions/1/restore`,
      { body: {} },
    )
    expect(restored).toEqual({ version: 1, isNewVersion: false })
  },
  async putVersionNote({ client }) {
    const { id } = await addVal(client)
    await client.put(`/v1/vals/${id}/versions/1/note`, { body: { note: "first" } })
    const found = await list(client, "listHistory", `/v1/vals/${id}/history`)
    expect(found.map((it) => it.note)).toEqual(["first"])
  },
  async listFiles({ client }) {
    const { id } = await addVal(client)
    const path = `/v2/vals/${id}/files`
    expect(await listIds(client, "listFiles", path, { path: "" })).toEqual([id])
  },
  async createFile({ client }) {
    const { id } = await addVal(client)
    const made = await client.post<object, Output<"createFile">>(`/v2/vals/${id}/files`, {
      query: { path: "docs/a.txt" },
      body: { type: "file", content: "" },
    })
    expect(made).toMatchObject({ path: "docs/a.txt", version: 2 })
  },
  async updateFile({ client }) {
    const { id } = await addVal(client)
    const changed = await client.put<object, Output<"updateFile">>(`/v2/vals/${id}/files`, {
      query: { path: "main.tsx" },
      body: { content: "2", name: "main.tsx", type: "http" },
    })
    expect(changed).toMatchObject({ id, type: "http", version: 2 })
  },
  async deleteFile({ client }) {
    const { id } = await addVal(client)
    const query = { path: "main.tsx" }
    await client.delete(`/v2/vals/${id}/files`, { query })
    expect(await listIds(client, "listFiles", `/v2/vals/${id}/files`, { path: "" })).toEqual([])
  },
  async getFileContent({ client }) {
    const { id, code } = await addVal(client)
    const response = await client
      .get(`/v2/vals/${id}/files/content`, { query: { path: "main.tsx" } })
      .asResponse()
    expect(await response.text()).toBe(code)
  },
  async getFile({ client, sample }) {
    const path = `/v2/files/${sample.library.id}`
    expect((await client.get<object, Output<"getFile">>(path)).path).toBe("main.tsx")
  },
  async changeFiles({ client }) {
    const { id } = await addVal(client)
    const saved = await client.post<object, Output<"changeFiles">>(`/v1/vals/${id}/files`, {
      body: { changes: [{ path: "main.tsx", delete: true }] },
    })
    expect(saved).toEqual({
      version: 2,
      isNewVersion: true,
      files: [],
      schedules: [],
      warnings: [],
    })
  },
  async listVersions({ client, sample }) {
    const found = await list(client, "listVersions", `/v1/vals/${sample.library.id}/versions`)
    expect(found.map((it) => it.version)).toEqual([2, 1])
  },
  async createVersion({ client }) {
    const { id, code } = await addVal(client)
    const path = `/v1/vals/${id}/versions`
    const { data, response } = await client
      .post<object, Output<"createVersion">>(path, { body: { code: `${code}\n` } })
      .withResponse()
    expect(response.status).toBe(201)
    expect(data).toMatchObject({ id, version: 2, code: `${code}\n` })
  },
  async getVersion({ client, sample }) {
    const old = await client.get<object, Output<"getVersion">>(
      `/v1/vals/${sample.library.id}/versions/1`,
    )
    expect(old).toMatchObject({ id: sample.library.id, version: 1, code: "export const one = 1" })
  },
  async getVersionLock({ client, sample }) {
    const lock = await client.get<object, Output<"getVersionLock">>(
      `/v1/vals/${sample.library.id}/versions/1/lock`,
    )
    expect(lock).toEqual({ state: "none", imports: [], warnings: [], updatedAt: null })
  },
  async getVersionTypes({ client, sample }) {
    const types = await client.get<object, Output<"getVersionTypes">>(
      `/v1/vals/${sample.library.id}/versions/1/types`,
    )
    expect(types).toMatchObject({ state: "none", files: [] })
  },
  async formatCode({ client }) {
    const formatted = await client.post<object, Output<"formatCode">>("/v1/format", {
      body: { code: "let a = 1" },
    })
    expect(formatted.code).toMatch(/^let a = 1;?\n?$/)
  },
  async resolveVersion({ client, sample }) {
    const lock = await client.post<object, Output<"resolveVersion">>(
      `/v1/vals/${sample.library.id}/versions/1/lock`,
    )
    expect(lock.state).toBe("none")
  },
  async deleteVersion({ client }) {
    const { id } = await addVal(client)
    await client.post(`/v1/vals/${id}/versions`, { body: { code: "2" } })
    expect(await client.delete<object, null>(`/v1/vals/${id}/versions/1`)).toBeNull()
    expect(await failure(() => client.get(`/v1/vals/${id}/versions/1`))).toBeInstanceOf(
      ValTown.NotFoundError,
    )
  },
  async getLike({ client }) {
    const { id } = await addVal(client)
    expect(await client.get<object, Output<"getLike">>(`/v1/vals/${id}/like`)).toEqual({
      liked: false,
    })
    await client.put(`/v1/vals/${id}/like`)
    expect(await client.get<object, Output<"getLike">>(`/v1/vals/${id}/like`)).toEqual({
      liked: true,
    })
    await client.delete(`/v1/vals/${id}`)
  },
  async likeVal({ client }) {
    const { id } = await addVal(client)
    expect(await client.put<object, null>(`/v1/vals/${id}/like`)).toBeNull()
    expect(await client.get<object, Output<"getVal">>(`/v1/vals/${id}`)).toMatchObject({
      likeCount: 1,
    })
    await client.delete(`/v1/vals/${id}`)
  },
  async unlikeVal({ client }) {
    const { id } = await addVal(client)
    await client.put(`/v1/vals/${id}/like`)
    expect(await client.delete<object, null>(`/v1/vals/${id}/like`)).toBeNull()
    expect(await client.get<object, Output<"getVal">>(`/v1/vals/${id}`)).toMatchObject({
      likeCount: 0,
    })
  },
  async listComments({ client, sample }) {
    const path = `/v1/vals/${sample.library.id}/comments`
    expect(await listIds(client, "listComments", path)).toEqual(
      [...sample.libraryComments].reverse(),
    )
  },
  async createComment({ client }) {
    const { id } = await addVal(client)
    const said = await client.post<object, Output<"createComment">>(`/v1/vals/${id}/comments`, {
      body: { comment: "*nice*" },
    })
    expect(said).toMatchObject({ comment: "*nice*", author: { username: "ada" }, val: { id } })
    await client.delete(`/v1/vals/${id}`)
  },
  async deleteComment({ client }) {
    const { id } = await addVal(client)
    const said = await client.post<object, Output<"createComment">>(`/v1/vals/${id}/comments`, {
      body: { comment: "oops" },
    })
    expect(await client.delete<object, null>(`/v1/comments/${said.id}`)).toBeNull()
    expect(await listIds(client, "listComments", `/v1/vals/${id}/comments`)).toEqual([])
  },
  async listValReferences({ client, sample }) {
    const found = await list(
      client,
      "listValReferences",
      `/v1/vals/${sample.library.id}/references`,
    )
    expect(found.map((it) => it.reference.name)).toEqual(["secondImporter", "firstImporter"])
  },
  async listValDependencies({ client, sample }) {
    const found = await list(
      client,
      "listValDependencies",
      `/v1/vals/${sample.importers[0]?.id}/dependencies`,
    )
    expect(found.map((it) => it.dependsOn.id)).toEqual([sample.library.id])
  },
  async createRun(scene) {
    const { client } = await newcomer(scene)
    const { id } = await client.post<object, Output<"createVal">>("/v1/vals", {
      body: { code: "export default (a, b) => a + b" },
    })
    const run = await client.post<object, Output<"createRun">>(`/v1/vals/${id}/runs`, {
      body: { args: [1, 2] },
    })
    expect(run).toMatchObject({ status: "succeeded", returnValue: 3 })
  },
  async sendTestEmail(scene) {
    const { client } = await newcomer(scene)
    const { id } = await client.post<object, Output<"createVal">>("/v1/vals", {
      body: { code: "export default (email) => email.subject", type: "email" },
    })
    const run = await client.post<object, Output<"sendTestEmail">>(`/v1/vals/${id}/emails`, {
      body: { subject: "Hello" },
    })
    expect(run).toMatchObject({ source: "email", email: { subject: "Hello", isTest: true } })
  },
  async callVal(scene) {
    const { client, user } = await newcomer(scene)
    await client.put("/v1/vals", {
      body: { name: "multiplier", code: "export default (a, b) => a * b" },
    })
    expect(
      await client.post<object, number>(`/v1/run/${user.username}.multiplier`, {
        body: { args: [3, 4] },
      }),
    ).toBe(12)
  },
  async evalCode(scene) {
    const { client } = await newcomer(scene)
    expect(
      await client.post<object, number>("/v1/eval", {
        body: { code: "export default (a, b) => a * b", args: [3, 4] },
      }),
    ).toBe(12)
  },
  async evalCodeByQuery(scene) {
    const { client } = await newcomer(scene)
    const code = encodeURIComponent("(a, b) => a / b")
    expect(
      await client.get<object, number>(`/v1/eval/${code}`, { query: { args: "[12,4]" } }),
    ).toBe(3)
  },
  async callValByQuery(scene) {
    const { client, user } = await newcomer(scene)
    await client.put("/v1/vals", {
      body: { name: "multiplier", code: "export default (a, b) => a * b" },
    })
    expect(
      await client.get<object, number>(`/v1/run/@${user.username}.multiplier`, {
        query: { args: "[5,6]" },
      }),
    ).toBe(30)
  },
  async cancelRun({ client, sample }) {
    expect(await client.post<object, object>(`/v1/runs/${sample.runs[2]?.id}/cancel`)).toEqual({
      found: false,
    })
  },
  async cancelEvaluation({ client, sample }) {
    const path = `/v1/vals/${sample.library.id}/evaluations/${sample.runs[2]?.id}/cancel`
    expect(await client.post<object, object>(path)).toEqual({ found: false })
  },
  async cancelEvaluationById({ client, sample }) {
    const path = `/v1/vals/${sample.runs[2]?.id}/cancel`
    expect(await client.post<object, object>(path)).toEqual({ found: false })
  },
  async replayRun(scene) {
    const { client } = await newcomer(scene)
    const val = { name: "greeter", code: "export default (name) => `Hello, ${name}`" }
    const { id } = await client.put<object, Output<"saveVal">>("/v1/vals", { body: val })
    const first = await client.post<object, Output<"createRun">>(`/v1/vals/${id}/runs`, {
      body: { args: ["Ada"] },
    })
    const again = await client.post<object, Output<"replayRun">>(`/v1/runs/${first.id}/replay`)
    expect(again).toMatchObject({ parentId: first.id, returnValue: "Hello, Ada" })
  },
  async sendValRequest(scene) {
    const { client } = await newcomer(scene)
    const val = {
      name: "echo",
      code: "export default async (request) => new Response(await request.text())",
      type: "http",
    }
    const { id } = await client.put<object, Output<"saveVal">>("/v1/vals", { body: val })
    const body = { method: "POST", path: "/", headers: [["x-a", "1"]], body: "sent" }
    const answer = await client.post<object, Output<"sendValRequest">>(`/v1/vals/${id}/requests`, {
      body,
    })
    expect(answer).toMatchObject({ status: 200, statusText: "OK", body: "sent" })
  },
  async createPreview(scene) {
    const { client } = await newcomer(scene)
    const val = {
      name: "page",
      code: "export default () => new Response('')",
      type: "http",
      privacy: "unlisted",
    }
    const { id, links } = await client.put<object, Output<"saveVal">>("/v1/vals", { body: val })
    const preview = await client.post<object, Output<"createPreview">>(`/v1/vals/${id}/preview`)
    expect(preview).toEqual({ url: links.endpoint ?? "", expiresAt: null })
  },
  async getRun({ client, sample }) {
    const run = await client.get<object, Output<"getRun">>(`/v1/runs/${sample.runs[2]?.id}`)
    expect(run).toMatchObject({
      status: "succeeded",
      source: "api",
      returnValue: 3,
      durationMs: 25,
      val: { id: sample.library.id, version: 2 },
    })
  },
  async getRunLogs({ client, sample }) {
    const logs = await client.get<object, Output<"getRunLogs">>(
      `/v1/runs/${sample.runs[0]?.id}/logs`,
    )
    expect(logs).toEqual({
      data: [{ at: new Date(firstRunAt).toISOString(), level: "info", message: "hello" }],
      logsTruncated: false,
      logsOmitted: null,
    })
  },
  async listUsers({ loopback, sample }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    expect(await listIds(admin, "listUsers", "/v1/users")).toContain(sample.bob.id)
  },
  async createUser({ loopback }) {
    const admin = openClient(loopback, loopback.api.admin.token)
    const made = await admin.post<object, Output<"createUser">>("/v1/users", {
      body: { username: "grace", email: "grace@example.com" },
    })
    const grace = await openClient(loopback, made.token).me.profile.retrieve()
    expect(grace).toMatchObject({ id: made.id, username: "grace", email: "grace@example.com" })
  },
  async getUserAccount(scene) {
    const account = await administer(scene).get<object, Output<"getUserAccount">>(
      `/v1/users/${scene.sample.bob.id}/account`,
    )
    expect(account).toMatchObject({ username: "bob", suspendedAt: null })
  },
  async suspendUser(scene) {
    const { client, user } = await newcomer(scene)
    await administer(scene).put(`/v1/users/${user.id}/suspension`, { body: { reason: "spam" } })
    expect(await failure(() => client.me.profile.retrieve())).toBeInstanceOf(
      ValTown.PermissionDeniedError,
    )
  },
  async unsuspendUser(scene) {
    const { client, user } = await newcomer(scene)
    await administer(scene).put(`/v1/users/${user.id}/suspension`, { body: {} })
    await administer(scene).delete(`/v1/users/${user.id}/suspension`)
    expect((await client.me.profile.retrieve()).id).toBe(user.id)
  },
  async deleteUser(scene) {
    const { client, user } = await newcomer(scene)
    await administer(scene).delete(`/v1/users/${user.id}`, { query: { data: "delete" } })
    expect(await failure(() => client.me.profile.retrieve())).toBeInstanceOf(
      ValTown.AuthenticationError,
    )
  },
  async createUserToken(scene) {
    const path = `/v1/users/${scene.sample.bob.id}/tokens`
    const made = await administer(scene).post<object, Output<"createUserToken">>(path, {
      body: { scopes: ["user:read"] },
    })
    expect((await openClient(scene.loopback, made.token).me.profile.retrieve()).username).toBe(
      "bob",
    )
  },
  async getUserUsage(scene) {
    const usage = await administer(scene).get<object, Output<"getUserUsage">>(
      `/v1/users/${scene.sample.bob.id}/usage`,
    )
    expect(usage.blobs.bytesMax).toBe(1024 ** 3)
  },
  async getUserQuotas(scene) {
    const quotas = await administer(scene).get<object, Output<"getUserQuotas">>(
      `/v1/users/${scene.sample.bob.id}/quotas`,
    )
    expect(quotas.blobBytes).toBeNull()
  },
  async putUserQuotas(scene) {
    const { user } = await newcomer(scene)
    const path = `/v1/users/${user.id}/quotas`
    const quotas = await administer(scene).put<object, Output<"putUserQuotas">>(path, {
      body: { blobBytes: 5 },
    })
    expect(quotas).toMatchObject({ blobBytes: 5, runsAtOnce: null })
  },
  async listInvitations(scene) {
    const { id } = await invite(scene)
    expect(await listIds(administer(scene), "listInvitations", "/v1/invitations")).toContain(id)
  },
  async createInvitation(scene) {
    expect((await invite(scene)).url).toContain("/invitation#code=")
  },
  async revokeInvitation(scene) {
    const { id } = await invite(scene)
    await administer(scene).delete(`/v1/invitations/${id}`)
    expect(await failure(() => administer(scene).delete(`/v1/invitations/${id}`))).toBeInstanceOf(
      ValTown.NotFoundError,
    )
  },
  async acceptInvitation(scene) {
    const body = { code: new URL((await invite(scene)).url).hash.slice(6), username: "invited" }
    const made = await scene.client.post<object, Output<"acceptInvitation">>(
      "/v1/invitations/accept",
      { body },
    )
    expect((await openClient(scene.loopback, made.token).me.profile.retrieve()).username).toBe(
      "invited",
    )
  },
  async listAuditEntries(scene) {
    const { id } = await invite(scene)
    const [newest] = await list(administer(scene), "listAuditEntries", "/v1/audit", {
      action: "invitation.create",
      limit: 1,
    })
    expect(newest).toMatchObject({ subject: { id }, actor: { username: "admin" } })
  },
  async listNodes(scene) {
    const [node] = await list(administer(scene), "listNodes", "/v1/nodes")
    expect(node).toMatchObject({ state: "active", pid: process.pid })
  },
  async getUser({ client, sample }) {
    expect(await client.users.retrieve(sample.bob.id)).toMatchObject({
      id: sample.bob.id,
      username: "bob",
      bio: null,
      profileImageUrl: null,
    })
  },
  async listUserVals({ client, sample }) {
    const path = `/v1/users/${sample.bob.id}/vals`
    expect(await listIds(client, "listUserVals", path)).toEqual(
      sample.importers.map((val) => val.id).reverse(),
    )
  },
  async getUserByName({ client, sample }) {
    expect((await client.alias.username.retrieve("bob")).id).toBe(sample.bob.id)
    expect((await client.alias.username.retrieve("@BOB")).id).toBe(sample.bob.id)
  },
  async getValByName({ client, sample }) {
    expect((await client.get<object, Output<"getValByName">>("/v1/alias/ada/library")).id).toBe(
      sample.library.id,
    )
  },
  async listTokens({ client }) {
    await client.post("/v1/me/tokens", { body: { name: "second", scopes: ["val:read"] } })
    const found = await list(client, "listTokens", "/v1/me/tokens")
    expect(found.map((token) => token.name)).toEqual(["second", "first token"])
  },
  async createToken({ client, loopback }) {
    const body = { name: "reader", scopes: ["user:read"], expiresAt: "2999-12-31T00:00:00Z" }
    const made = await client.post<object, Output<"createToken">>("/v1/me/tokens", { body })
    expect(made).toMatchObject({
      name: "reader",
      scopes: ["user:read"],
      expiresAt: "2999-12-31T00:00:00.000Z",
    })
    expect((await openClient(loopback, made.token).me.profile.retrieve()).username).toBe("ada")
  },
  async revokeToken({ client, loopback }) {
    const made = await client.post<object, Output<"createToken">>("/v1/me/tokens", {
      body: { name: "brief", scopes: ["user:read"] },
    })
    expect(await client.delete<object, null>(`/v1/me/tokens/${made.id}`)).toBeNull()
    expect(
      await failure(() => openClient(loopback, made.token).me.profile.retrieve()),
    ).toBeInstanceOf(ValTown.AuthenticationError)
  },
  async createSession({ client }) {
    const error = await failure(() => client.post("/v1/sessions", { body: { token: "x" } }))
    expect(error).toBeInstanceOf(ValTown.PermissionDeniedError)
    const headers = { "x-hamlet-session": "1" }
    expect(
      await failure(() => client.post("/v1/sessions", { body: { token: "x" }, headers })),
    ).toBeInstanceOf(ValTown.AuthenticationError)
  },
  async findSignInLinkOwner({ client }) {
    const headers = { "x-hamlet-session": "1" }
    const asked = client.post("/v1/sign-in-links/owner", { body: { code: "x" }, headers })
    expect(await failure(() => asked)).toBeInstanceOf(ValTown.AuthenticationError)
  },
  async startProviderSignIn({ client }) {
    const error = await failure(() => client.post("/v1/oidc/sign-ins"))
    expect(error).toBeInstanceOf(ValTown.PermissionDeniedError)
  },
  async finishProviderSignIn({ client }) {
    const body = { attempt: "x", response: "x" }
    const error = await failure(() => client.post("/v1/oidc/sessions", { body }))
    expect(error).toBeInstanceOf(ValTown.PermissionDeniedError)
  },
  async signUpWithProvider({ client }) {
    const body = { ticket: "x", username: "x" }
    const error = await failure(() => client.post("/v1/oidc/users", { body }))
    expect(error).toBeInstanceOf(ValTown.PermissionDeniedError)
  },
  async linkIdentity({ client }) {
    const body = { attempt: "x", response: "x" }
    const error = await failure(() => client.post("/v1/me/identities", { body }))
    expect(error).toBeInstanceOf(ValTown.InternalServerError)
  },
  async listIdentities({ client, loopback, sample }) {
    const id = await addIdentity(loopback.api, sample.ada)
    const found = await list(client, "listIdentities", "/v1/me/identities")
    expect(found.map((identity) => identity.id)).toContain(id)
  },
  async unlinkIdentity({ client, loopback, sample }) {
    const id = await addIdentity(loopback.api, sample.ada)
    expect(await client.delete<object, null>(`/v1/me/identities/${id}`)).toBeNull()
  },
  async listSessions({ client, loopback, sample }) {
    await loopback.api.hamlet.nouns.sessions.signIn({
      token: sample.ada.token,
      userAgent: "Lynx",
      replaced: undefined,
    })
    const found = await list(client, "listSessions", "/v1/me/sessions")
    expect(found.map((session) => session.userAgent)).toEqual(["Lynx"])
  },
  async deleteSession({ client, loopback, sample }) {
    const { session } = await loopback.api.hamlet.nouns.sessions.signIn({
      token: sample.ada.token,
      userAgent: null,
      replaced: undefined,
    })
    expect(await client.delete<object, null>(`/v1/me/sessions/${session.id}`)).toBeNull()
    expect(await failure(() => client.delete(`/v1/me/sessions/${session.id}`))).toBeInstanceOf(
      ValTown.NotFoundError,
    )
  },
  async deleteAllSessions({ client }) {
    expect(await client.delete<object, null>("/v1/me/sessions")).toBeNull()
  },
  async signOut({ client }) {
    expect(await client.delete<object, null>("/v1/me/session")).toBeNull()
  },
  async createSignInLink({ client }) {
    const made = await client.post<object, Output<"createSignInLink">>("/v1/me/sign-in-links")
    expect(made.url).toContain("/sign-in#code=hamlet_link_")
  },
  async listAuthorizations({ client, loopback, sample }) {
    const { id } = await addAuthorization(loopback.api.hamlet, sample.ada)
    const found = await list(client, "listAuthorizations", "/v1/me/authorizations")
    expect(found.map((one) => one.id)).toContain(id)
  },
  async deleteAuthorization({ client, loopback, sample }) {
    const { id } = await addAuthorization(loopback.api.hamlet, sample.ada)
    expect(await client.delete<object, null>(`/v1/me/authorizations/${id}`)).toBeNull()
  },
  async checkAuthorization({ client, loopback }) {
    const query = toAuthorizeQuery(await addOAuthClient(loopback.api.hamlet))
    const path = "/v1/me/authorization-requests"
    expect(await client.post(path, { body: { query } })).toMatchObject({ clientName: "Robot" })
  },
  async createAuthorization({ client, loopback }) {
    const query = toAuthorizeQuery(await addOAuthClient(loopback.api.hamlet))
    const body = { query, scopes: ["val:read"] }
    expect(await client.post("/v1/me/authorizations", { body })).toMatchObject({
      url: expect.stringContaining("code=hamlet_code_"),
    })
  },
  async putSchedule({ client }) {
    const { id } = await createInterval(client)
    expect(await putSchedule(client, id)).toMatchObject({ every: "300d", catchUp: "none" })
  },
  async getSchedule({ client }) {
    const { id } = await createInterval(client)
    const made = await putSchedule(client, id)
    expect(await client.get<object, Schedule>(`/v1/vals/${id}/schedule`)).toEqual(made)
  },
  async deleteSchedule({ client }) {
    const { id } = await createInterval(client)
    await putSchedule(client, id)
    expect(await client.delete<object, null>(`/v1/vals/${id}/schedule`)).toBeNull()
    expect(await failure(() => client.get(`/v1/vals/${id}/schedule`))).toBeInstanceOf(
      ValTown.NotFoundError,
    )
  },
  async listMySchedules({ client }) {
    const { id } = await createInterval(client)
    await putSchedule(client, id)
    const [newest] = await list(client, "listMySchedules", "/v1/me/schedules")
    expect(newest?.val.id).toBe(id)
  },
  async previewSchedule({ client }) {
    const query = { cron: "0 9 * * 1-5" }
    const preview = await client.get<object, Output<"previewSchedule">>("/v1/schedules/preview", {
      query,
    })
    expect(preview.description).toBe("every weekday at 09:00 in UTC")
  },
  async listSecrets({ client, sample }) {
    expect(
      (await list(client, "listSecrets", "/v1/me/secrets")).map((secret) => secret.name).sort(),
    ).toEqual([...sample.secrets])
  },
  async putSecret({ client }) {
    expect(
      await client.put<object, null>("/v1/me/secrets/Z_PUT", {
        body: { value: "x", hosts: ["api.example.com"] },
      }),
    ).toBeNull()
    expect((await list(client, "listSecrets", "/v1/me/secrets"))[0]).toMatchObject({
      name: "Z_PUT",
      hosts: ["api.example.com"],
    })
  },
  async deleteSecret({ client }) {
    await client.put("/v1/me/secrets/Z_GONE", { body: { value: "x" } })
    expect(await client.delete<object, null>("/v1/me/secrets/Z_GONE")).toBeNull()
    expect(await failure(() => client.delete("/v1/me/secrets/Z_GONE"))).toBeInstanceOf(
      ValTown.NotFoundError,
    )
  },
  async putValSecret({ client, sample }) {
    const path = `/v1/vals/${sample.library.id}/secrets/Z_PUT`
    expect(await client.put<object, null>(path, { body: { value: "x" } })).toBeNull()
  },
  async listValSecrets({ client, sample }) {
    const path = `/v1/vals/${sample.library.id}/secrets`
    await client.put(`${path}/Z_LIST`, { body: { value: "x" } })
    const found = await list(client, "listValSecrets", path)
    expect(found.map((secret) => secret.name)).toContain("Z_LIST")
  },
  async deleteValSecret({ client, sample }) {
    const path = `/v1/vals/${sample.library.id}/secrets/Z_GONE`
    await client.put(path, { body: { value: "x" } })
    expect(await client.delete<object, null>(path)).toBeNull()
  },
  async createEnvironmentVariable({ client, sample }) {
    const path = `/v2/vals/${sample.library.id}/environment_variables`
    const body = { key: "Z_VARIABLE", value: "x" }
    expect(await client.post<object, object>(path, { body })).toMatchObject({ key: "Z_VARIABLE" })
  },
  async putEnvironmentVariable({ client, sample }) {
    const path = `/v2/vals/${sample.library.id}/environment_variables`
    await client.post(path, { body: { key: "Z_CHANGED", value: "x" } })
    const body = { value: "y", description: "why" }
    const changed = await client.put<object, object>(`${path}/Z_CHANGED`, { body })
    expect(changed).toMatchObject({ description: "why" })
  },
  async listEnvironmentVariables({ client, sample }) {
    const path = `/v2/vals/${sample.library.id}/environment_variables`
    await client.post(path, { body: { key: "Z_LISTED", value: "x" } })
    const found = await list(client, "listEnvironmentVariables", path)
    expect(found.map(({ key }) => key)).toContain("Z_LISTED")
  },
  async deleteEnvironmentVariable({ client, sample }) {
    const path = `/v2/vals/${sample.library.id}/environment_variables`
    await client.post(path, { body: { key: "Z_DROPPED", value: "x" } })
    expect(await client.delete<object, null>(`${path}/Z_DROPPED`)).toBeNull()
  },
  async listNotifications({ client }) {
    const found = await list(client, "listNotifications", "/v1/me/notifications")
    expect(found.map(({ type }) => type)).toContain("like")
  },
  async countNotifications({ client }) {
    const counted = await client.get<object, Output<"countNotifications">>(
      "/v1/me/notifications/count",
    )
    expect(counted.unread).toBeGreaterThanOrEqual(0)
  },
  async readNotifications({ client }) {
    const path = "/v1/me/notifications/read"
    expect(await client.put<object, null>(path, { body: {} })).toBeNull()
  },
  async getNotificationSettings({ client }) {
    const path = "/v1/me/notifications/settings"
    expect(await client.get<object, object>(path)).toHaveProperty("muted")
  },
  async putNotificationSettings({ client }) {
    const path = "/v1/me/notifications/settings"
    const muted = { muted: ["like"] }
    expect(await client.put<object, object>(path, { body: muted })).toEqual(muted)
  },
  async listWebhooks({ client }) {
    const { id } = await addWebhook(client)
    expect((await list(client, "listWebhooks", "/v1/me/webhooks"))[0]?.id).toBe(id)
  },
  async createWebhook({ client }) {
    expect((await addWebhook(client)).secret).toStartWith("whsec_")
  },
  async getWebhook({ client }) {
    const { id, links } = await addWebhook(client)
    expect(await client.get<object, Output<"getWebhook">>(`/v1/me/webhooks/${id}`)).toMatchObject({
      links,
    })
  },
  async updateWebhook({ client }) {
    const { id } = await addWebhook(client)
    const body = { events: ["run.failed"] }
    expect(
      await client.put<object, Output<"updateWebhook">>(`/v1/me/webhooks/${id}`, { body }),
    ).toMatchObject(body)
  },
  async deleteWebhook({ client }) {
    const { id } = await addWebhook(client)
    expect(await client.delete<object, null>(`/v1/me/webhooks/${id}`)).toBeNull()
    expect(await failure(() => client.get(`/v1/me/webhooks/${id}`))).toBeInstanceOf(
      ValTown.NotFoundError,
    )
  },
  async rotateWebhookSecret({ client }) {
    const { id, secret } = await addWebhook(client)
    const rotated = await client.post<object, Output<"rotateWebhookSecret">>(
      `/v1/me/webhooks/${id}/secret`,
    )
    expect(rotated.secret).not.toBe(secret)
  },
  async testWebhook({ client }) {
    const { id } = await addWebhook(client)
    expect((await addDelivery(client, id)).type).toBe("webhook.test")
  },
  async listDeliveries({ client }) {
    const { id } = await addWebhook(client)
    const sent = await addDelivery(client, id)
    const found = await list(client, "listDeliveries", `/v1/me/webhooks/${id}/deliveries`)
    expect(found.map((delivery) => delivery.id)).toEqual([sent.id])
  },
  async getDelivery({ client }) {
    const { id } = await addWebhook(client)
    const sent = await addDelivery(client, id)
    const path = `/v1/me/webhooks/${id}/deliveries/${sent.id}`
    expect((await client.get<object, Output<"getDelivery">>(path)).webhookId).toBe(id)
  },
  async retryDelivery({ client }) {
    const { id } = await addWebhook(client)
    const sent = await addDelivery(client, id)
    const path = `/v1/me/webhooks/${id}/deliveries/${sent.id}/retry`
    expect((await client.post<object, Output<"retryDelivery">>(path)).id).toBe(sent.id)
  },
  async listBlobs({ client }) {
    for (const key of ["list/b", "list/a", "other"])
      await client.blobs.store(key, toUpload("12345"))
    const found = await client.blobs.list({ prefix: "list/" })
    expect(found.map(({ key, size }) => [key, size])).toEqual([
      ["list/a", 5],
      ["list/b", 5],
    ])
    expect(Date.parse(found[0]?.lastModified ?? "")).toBeGreaterThan(Date.now() - 60_000)
    expect((await client.blobs.list()).length).toBeGreaterThan(2)
  },
  async getBlob({ client }) {
    const content = crypto.getRandomValues(new Uint8Array(100_000))
    // The client encodes nothing: what it makes an address of is the key.
    for (const key of ["a/b c/ü", "100%", encodeURIComponent("a/../b?")]) {
      await client.blobs.store(key, toUpload(content))
      const response = await client.blobs.get(key)
      expect([
        response.status,
        Buffer.compare(Buffer.from(await response.arrayBuffer()), content),
      ]).toEqual([200, 0])
    }
    expect((await client.blobs.list({ prefix: "a/../" })).map(({ key }) => key)).toEqual([
      "a/../b?",
    ])
    expect(await failure(() => client.blobs.get("nothing"))).toBeInstanceOf(ValTown.NotFoundError)
  },
  async putBlob({ client }) {
    const stored = async (key: string) => (await client.blobs.get(key)).text()
    expect<unknown>(await client.blobs.store("text", toUpload("first"))).toBe("ok")
    await client.blobs.store("text", toUpload("second"))
    expect(await stored("text")).toBe("second")
    await client.blobs.store("empty")
    expect(await stored("empty")).toBe("")
    // What the client sends: docs/blobs.md says so.
    const view = Buffer.from("abcdefgh").subarray(0, 3)
    const send = (key: string, body: unknown) =>
      client.blobs.store(key, body as ValTown.BlobStoreParams)
    await send("view", new Uint8Array(view.buffer, view.byteOffset, view.length))
    await send("copy", new Uint8Array(view))
    await send("blob", new Blob([view]))
    expect(await Promise.all(["view", "copy", "blob"].map(stored))).toEqual(["abcdefgh", "abc", ""])
  },
  async deleteBlob({ client }) {
    await client.blobs.store("gone", toUpload("x"))
    await client.blobs.delete("gone")
    expect(await failure(() => client.blobs.delete("gone"))).toBeInstanceOf(ValTown.NotFoundError)
  },
  async executeSql({ client }) {
    await client.sqlite.execute({
      statement:
        "create table if not exists executed (id integer primary key, title text, cover blob)",
    })
    const sql = "insert into executed (title, cover) values (:title, $cover)"
    const added = await client.sqlite.execute({
      statement: { sql, args: { title: "é", $cover: new Uint8Array([1, 2]) } },
    })
    expect(added).toEqual({
      columns: [],
      columnTypes: [],
      rows: [],
      rowsAffected: 1,
      lastInsertRowid: 1,
    })
    const found = await client.sqlite.execute({
      statement: { sql: "select *, 1 as one from executed where id = ?", args: [1] },
    })
    expect(found).toMatchObject({
      columns: ["id", "title", "cover", "one"],
      columnTypes: ["INTEGER", "TEXT", "BLOB", ""],
    })
    expect(found.rows).toEqual([[1, "é", "AQI=", 1]])
    const error = await failure(() => client.sqlite.execute({ statement: "select * from nowhere" }))
    expect(error).toBeInstanceOf(ValTown.BadRequestError)
    expect(error.message).toBe("400 Cannot run the statement: no such table: nowhere")
  },
  async listValBlobs({ client, sample }) {
    const query = { val_id: sample.library.id }
    expect(await client.get<object, unknown>("/v2/blob", { query })).toBeArray()
  },
  async getValBlob({ client, sample }) {
    const request = client.get("/v2/blob/nothing", { query: { val_id: sample.library.id } })
    expect(await failure(() => request)).toBeInstanceOf(ValTown.NotFoundError)
  },
  async putValBlob({ client }) {
    // Without a val, it is one of the account.
    expect(await client.post<object, unknown>("/v2/blob/put", {})).toBe("ok")
    expect(await client.get<object, unknown>("/v1/blob")).toBeArray()
  },
  async deleteValBlob({ client, sample }) {
    const request = client.delete("/v2/blob/nothing", { query: { val_id: sample.library.id } })
    expect(await failure(() => request)).toBeInstanceOf(ValTown.NotFoundError)
  },
  async executeValSql({ client, sample }) {
    const query = { val_id: sample.library.id }
    const body = { statement: "select 1" }
    expect(await client.post<object, unknown>("/v2/sqlite/execute", { query, body })).toMatchObject(
      { rows: [[1]] },
    )
  },
  async batchValSql({ client, sample }) {
    const query = { val_id: sample.library.id }
    const body = { statements: ["select 1"] }
    expect(await client.post<object, unknown>("/v2/sqlite/batch", { query, body })).toMatchObject([
      { rows: [[1]] },
    ])
  },
  async batchSql({ client }) {
    const statements = [
      "create table if not exists batched (a)",
      { sql: "insert into batched values (?), (?)", args: [1, null] },
      "SELECT a FROM batched;",
    ]
    const results = await client.sqlite.batch({ statements, mode: "write" })
    expect(results.map(({ rows, rowsAffected }) => [rows, rowsAffected])).toEqual([
      [[], 0],
      [[], 2],
      [[[1], [null]], 0],
    ])
    const error = await failure(() =>
      client.sqlite.batch({
        statements: ["delete from batched", "insert into nowhere values (1)"],
      }),
    )
    expect(error.message).toBe("400 Cannot run statement 2: no such table: nowhere")
    expect(
      (await client.sqlite.batch({ statements: ["select count(*) from batched"], mode: "read" }))[0]
        ?.rows,
    ).toEqual([[2]])
  },
  async sendEmail({ client }) {
    const error = await failure(() =>
      client.emails.send({ subject: "Hi", text: "é", to: ["a@b.example"] }),
    )
    expect(error).toMatchObject({ status: 501, error: { code: "mail_unavailable" } })
  },
  async listMyEmails({ client, sample }) {
    expect(await client.get<object, Output<"listMyEmails">>("/v1/me/emails")).toMatchObject({
      data: [{ id: sample.emailId }],
    })
  },
  async getMyEmail({ client, sample }) {
    const error = await failure(() => client.get(`/v1/me/emails/${sample.ada.id}`))
    expect(error).toMatchObject({ status: 404, error: { code: "email_not_found" } })
  },
  async resendEmail({ client, sample }) {
    const error = await failure(() => client.post(`/v1/me/emails/${sample.ada.id}/resend`))
    expect(error).toMatchObject({ status: 404, error: { code: "email_not_found" } })
  },
  async sendEmailCode({ client }) {
    const error = await failure(() => client.post("/v1/me/email/code"))
    expect(error).toMatchObject({ status: 501, error: { code: "mail_unavailable" } })
  },
  async confirmEmail({ client }) {
    const error = await failure(() =>
      client.post("/v1/me/email/confirm", { body: { code: "12345678" } }),
    )
    expect(error).toMatchObject({ status: 422, error: { code: "invalid_email_code" } })
  },
  async putUserEmail({ client, sample }) {
    const error = await failure(() =>
      client.put(`/v1/users/${sample.ada.id}/email`, { body: { email: null } }),
    )
    expect(error).toMatchObject({ status: 403, error: { code: "missing_scope" } })
  },
  async createSlackToken({ client }) {
    const body = { team_id: "T1" }
    const sent = () => client.post("/v3/connections/slack/token", { body })
    expect(await failure(sent)).toBeInstanceOf(ValTown.NotFoundError)
  },
  async createGoogleDocsToken({ client }) {
    const body = { email: "a@b.c" }
    const sent = () => client.post("/v3/connections/google-docs/token", { body })
    expect(await failure(sent)).toBeInstanceOf(ValTown.NotFoundError)
  },
  async createChatCompletion({ client }) {
    const error = await failure(() =>
      client.post("/v1/openai/chat/completions", { body: { model: "m", messages: [] } }),
    )
    expect(error).toMatchObject({ status: 501, error: { code: "openai_unavailable" } })
  },
  async getModule({ client }) {
    expect(await client.get<object, string>("/v/ada/library@1")).toBe("export const one = 1;\n")
  },
  async getModuleFile({ client }) {
    expect(await client.get<object, string>("/v/ada/library@1/main.tsx")).toBe(
      "export const one = 1;\n",
    )
  },
  async getStandardModule({ client }) {
    expect(await client.get<object, string>("/std/sqlite.ts")).toContain("export const sqlite = {")
  },
  async getOpenApi({ client }) {
    expect((await client.get<object, Output<"getOpenApi">>("/openapi.json")).openapi).toStartWith(
      "3.1",
    )
  },
  async getBackup({ loopback }) {
    const response = await openClient(loopback, loopback.api.admin.token).get<object, Response>(
      "/v1/backup",
      { __binaryResponse: true },
    )
    const checker = createBackupChecker()
    checker.add(new Uint8Array(await response.arrayBuffer()))
    expect(checker.end().trailer.missing).toEqual([])
  },
  async getDocs({ client }) {
    expect(await client.get<object, string>("/docs")).toStartWith("<!doctype html>")
  },
  async getHealth({ client }) {
    expect(await client.get<object, Output<"getHealth">>("/healthz")).toMatchObject({
      status: "ok",
    })
  },
  async getReadiness({ client }) {
    expect(await client.get<object, Output<"getReadiness">>("/readyz")).toMatchObject({
      status: "ok",
      schemaVersion: expect.any(Number),
    })
  },
  async getMetrics({ client }) {
    expect(await client.get<object, string>("/metrics")).toContain("hamlet_http_requests_total")
  },
}

/** A user who runs vals, so that the lists of the other users do not change. */
function administer({ loopback }: Scene): ValTown {
  return openClient(loopback, loopback.api.admin.token)
}

function invite(scene: Scene): Promise<Output<"createInvitation">> {
  return administer(scene).post<object, Output<"createInvitation">>("/v1/invitations", { body: {} })
}

async function newcomer({ loopback }: Scene) {
  const user = await loopback.api.addUser(`user${crypto.randomUUID().slice(0, 8)}`)
  return { client: openClient(loopback, user.token), user }
}

/** Adds a webhook that is paused and whose receiver does not exist. */
function addWebhook(client: ValTown) {
  const body = { url: "https://receiver.invalid/", events: ["val.saved"], isPaused: true }
  return client.post<object, Output<"createWebhook">>("/v1/me/webhooks", { body })
}

function addDelivery(client: ValTown, webhookId: string) {
  return client.post<object, Output<"testWebhook">>(`/v1/me/webhooks/${webhookId}/test`)
}

describeSqlite("sdk: the official Val Town client", (open) => {
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
      test(`${method.toUpperCase()} ${path} and parses the response`, async () => {
        const { seen } = scene.loopback
        const before = seen.length
        await calls[name](scene)
        const pattern = new RegExp(
          `^${path.replaceAll(/\{\w+\}/g, path.endsWith("/blob/{key}") || path === "/std/{module}" ? ".+" : "[^/]+")}$`,
        )
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

  test("iterates a list page by page along the links, keeping its filters", async () => {
    const { client, loopback, sample } = scene
    const before = loopback.seen.length
    const query = { limit: 1, error: false, source: "api,http" }
    const first = await client.getAPIList<Run, PageCursorURL<Run>>("/v1/me/runs", PageCursorURL, {
      query,
    })
    const pages = await Array.fromAsync(first.iterPages())

    expect(pages.map((page) => page.data.map((run) => run.id))).toEqual([
      [sample.runs[2]?.id ?? ""],
      [sample.runs[0]?.id ?? ""],
    ])
    const asked = loopback.seen.slice(before).map((request) => Object.fromEntries(request.query))
    expect(asked).toEqual([
      { limit: "1", error: "false", source: "api,http" },
      { limit: "1", error: "false", source: "api,http", offset: "1", cursor: expect.any(String) },
    ])
  })

  describe("throws by status", () => {
    test("BadRequestError with the issues", async () => {
      const error = await failure(() =>
        scene.client.post("/v1/vals", { body: { name: "1st", code: "1" } }),
      )
      expect(error).toBeInstanceOf(ValTown.BadRequestError)
      expect(error.error).toMatchObject({ code: "invalid_request", issues: [{ path: "name" }] })
      expect(error.message).toStartWith('400 Cannot accept the request: "name"')
    })

    test("AuthenticationError for an unknown token", async () => {
      const error = await failure(() =>
        openClient(scene.loopback, "x".repeat(40)).me.profile.retrieve(),
      )
      expect(error).toBeInstanceOf(ValTown.AuthenticationError)
      expect(error.headers?.["www-authenticate"]).toBe("Bearer")
    })

    test("PermissionDeniedError with the message that clients look for", async () => {
      const made = await scene.client.post<object, Output<"createToken">>("/v1/me/tokens", {
        body: { name: "r", scopes: ["val:read"] },
      })
      const error = await failure(() =>
        openClient(scene.loopback, made.token).post("/v1/vals", { body: { code: "1" } }),
      )
      expect(error).toBeInstanceOf(ValTown.PermissionDeniedError)
      expect(error.message).toContain("required permissions")
      expect(error.message).toContain("val:write")
    })

    test("NotFoundError, also for what does not exist", async () => {
      const missing = await failure(() => scene.client.get(`/v1/vals/${crypto.randomUUID()}`))
      expect(missing).toBeInstanceOf(ValTown.NotFoundError)
      expect(missing.error).toMatchObject({
        code: "val_not_found",
        statusCode: 404,
        error: "Not Found",
      })
      const unknown = await failure(() => scene.client.get("/v2/nothing"))
      expect(unknown).toBeInstanceOf(ValTown.NotFoundError)
      expect(unknown.error).toMatchObject({ code: "route_not_found" })
    })

    test("UnprocessableEntityError for an Idempotency-Key of another request", async () => {
      const headers = { "Idempotency-Key": "once" }
      const made = await scene.client.post<object, Output<"createVal">>("/v1/vals", {
        body: { code: "1" },
        headers,
      })
      const again = await scene.client.post<object, Output<"createVal">>("/v1/vals", {
        body: { code: "1" },
        headers,
      })
      expect(again).toEqual(made)
      const error = await failure(() =>
        scene.client.post("/v1/vals", { body: { code: "2" }, headers }),
      )
      expect(error).toBeInstanceOf(ValTown.UnprocessableEntityError)
      expect(error.error).toMatchObject({ code: "idempotency_mismatch" })
    })

    test.each([
      [
        412,
        "version_conflict",
        (client: ValTown, id: string) =>
          client.delete(`/v1/vals/${id}`, { headers: { "If-Match": '"1"' } }),
      ],
      [
        405,
        "method_not_allowed",
        (client: ValTown, id: string) => client.patch(`/v1/vals/${id}`, { body: {} }),
      ],
      [
        413,
        "body_too_large",
        (client: ValTown) => client.post("/v1/vals", { body: { code: "x".repeat(3_000_000) } }),
      ],
    ] as const)(
      "APIError with status %i that has no class of its own",
      async (status, code, call) => {
        const error = await failure(() => call(scene.client, scene.sample.library.id))
        expect(error.constructor).toBe(ValTown.APIError)
        expect(error.status).toBe(status)
        expect(error.error).toMatchObject({ code })
      },
    )
  })

  describe("does not retry", () => {
    const conflicts: Record<string, (scene: Scene) => Promise<unknown>> = {
      name_taken: ({ client }) => client.post("/v1/vals", { body: { name: "LIBRARY", code: "1" } }),
      username_taken: ({ loopback }) =>
        openClient(loopback, loopback.api.admin.token).post("/v1/users", {
          body: { username: "Bob" },
        }),
      last_version: ({ client, sample }) =>
        client.delete(`/v1/vals/${sample.library.id}/versions/2`),
    }

    test.each(Object.keys(conflicts))("after 409 %s", async (code) => {
      const { loopback, client, sample } = scene
      if (code === "last_version") await client.delete(`/v1/vals/${sample.library.id}/versions/1`)
      const before = loopback.seen.length
      const error = await failure(() => conflicts[code]?.(scene) ?? Promise.resolve())
      expect(error).toBeInstanceOf(ValTown.ConflictError)
      expect(error.error).toMatchObject({ code })
      expect(error.headers?.["x-should-retry"]).toBe("false")
      expect(loopback.seen.length - before).toBe(1)
    })
  })

  test("retries a 429 after retry-after", async () => {
    const loopback = await openLoopback(open, { HAMLET_RATE_PER_TOKEN: "60" })
    const { token } = await loopback.api.addUser("eager")
    const impatient = openClient(loopback, token, 0)
    const error = await waitUntil(() =>
      failure(() => impatient.me.profile.retrieve()).catch(() => undefined),
    )
    expect(error).toBeInstanceOf(ValTown.RateLimitError)
    expect(error.error).toMatchObject({ code: "rate_limited" })
    expect(Number(error.headers?.["retry-after"])).toBe(1)

    // The bucket may have filled in between, so the first call is not always the one that is
    // refused.
    const patient = openClient(loopback, token)
    await waitUntil(async () => {
      expect((await patient.me.profile.retrieve()).username).toBe("eager")
      return loopback.seen.some(isRetry)
    })
    await loopback.close()
  })

  test("retries while the database is unavailable, and then throws InternalServerError", async () => {
    const loopback = await openLoopback(open)
    const { token } = await loopback.api.addUser("eve")
    await loopback.api.hamlet.stop()
    const error = await failure(() => openClient(loopback, token, 1).me.profile.retrieve())
    expect(error).toBeInstanceOf(ValTown.InternalServerError)
    expect(error.error).toMatchObject({ code: "database_unavailable", statusCode: 503 })
    expect(loopback.seen.filter((request) => request.path === "/v1/me").map(isRetry)).toEqual([
      false,
      true,
    ])
    await loopback.close()
  })
})

function openClient(loopback: Loopback, token: string, maxRetries = 2): ValTown {
  return new ValTown({ baseURL: loopback.baseUrl, bearerToken: token, maxRetries })
}

/** The client sends bytes as they are, and files as JSON, which its types do not tell. */
function toUpload(content: string | Uint8Array): ValTown.BlobStoreParams {
  return Buffer.from(content as string) as unknown as ValTown.BlobStoreParams
}

/** Everything in a list, asked for one at a time through the client's own iterator. */
function list<Name extends PageName>(
  client: ValTown,
  _name: Name,
  path: string,
  query: object = {},
): Promise<Item<Name>[]> {
  return Array.fromAsync(
    client.getAPIList<Item<Name>, PageCursorURL<Item<Name>>>(path, PageCursorURL, {
      query: { ...query, limit: 1 },
    }),
  )
}

async function listIds(
  client: ValTown,
  name: PageName,
  path: string,
  query: object = {},
): Promise<(string | undefined)[]> {
  return (await list(client, name, path, query)).map((item) => ("id" in item ? item.id : undefined))
}

/** A val with a name that the server makes up. */
function addVal(client: ValTown): Promise<Output<"createVal">> {
  return client.post<object, Output<"createVal">>("/v1/vals", { body: { code: "1" } })
}

/** What the call fails with. */
async function failure(
  call: () => PromiseLike<unknown>,
): Promise<InstanceType<typeof ValTown.APIError>> {
  try {
    await call()
  } catch (error) {
    if (error instanceof ValTown.APIError) return error
    throw error
  }
  throw new Error("the call did not fail")
}

function isRetry(request: { readonly headers: Headers }): boolean {
  return request.headers.get("x-stainless-retry-count") !== "0"
}

function putSchedule(client: ValTown, valId: string): Promise<Schedule> {
  return client.put<object, Schedule>(`/v1/vals/${valId}/schedule`, { body: { every: "300d" } })
}

function createInterval(client: ValTown): Promise<Output<"createVal">> {
  const body = { code: "1", type: "interval" }
  return client.post<object, Output<"createVal">>("/v1/vals", { body })
}
