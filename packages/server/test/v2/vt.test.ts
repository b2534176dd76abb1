import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdtemp, rename, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import type { RunRecord } from "../../src/domain/runs/runs.ts"
import { expectStatus, type TestUser } from "../support/api.ts"
import { describeSqlite } from "../support/databases.ts"
import { toEndedRun } from "../support/fakes/ended-run.ts"
import { type Loopback, openLoopback } from "../support/loopback.ts"
import type { Branch, Val } from "./sdk-records.ts"
import {
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PermissionDeniedError,
} from "./sdk-transport.ts"
import { type TailedRun, VtClient } from "./vt-client.ts"
import { VtFolder } from "./vt-folder.ts"
import type { ItemStatus } from "./vt-status.ts"

describeSqlite("v2: the official command line client, release 0.1.54", (open) => {
  let loopback: Loopback
  let root: string
  let count = 0

  beforeAll(async () => {
    loopback = await openLoopback(open, { HAMLET_MAIL_DOMAIN: "mail.test", HAMLET_SMTP_PORT: "0" })
    root = await mkdtemp(join(tmpdir(), "hamlet-vt-"))
  })
  afterAll(async () => {
    await loopback.close()
    await rm(root, { recursive: true })
  })

  /** A process of the program, as a user; it has seen nothing yet. */
  const openVt = (user: TestUser) => new VtClient(loopback.baseUrl, user.token)

  const newFolder = () => {
    count += 1
    return new VtFolder(join(root, `${count}`))
  }

  /** A new user with an empty private val that is checked out in a folder. */
  async function openScene(): Promise<Scene> {
    count += 1
    const user = await loopback.api.addUser(`vt${count}`)
    const vt = openVt(user)
    const folder = newFolder()
    const val = await vt.sdk.vals.create({ name: "demo", privacy: "private" })
    await vt.clone(folder, [user.username, "demo"])
    const { branchId } = await folder.loadState()
    const readBranch = () => vt.sdk.branches.retrieve(val.id, branchId)
    return { user, vt, folder, val, branchId, readBranch }
  }

  /** What another process reads of the branch, newest version or the given one. */
  const listFiles = ({ user, val, branchId }: Scene, version?: number) =>
    openVt(user)
      .sdk.valFiles.retrieve(val.id, {
        path: "",
        recursive: true,
        branch_id: branchId,
        ...(version === undefined ? {} : { version }),
      })
      .toArray()
  const listPaths = async (scene: Scene, version?: number) =>
    (await listFiles(scene, version)).map(({ path }) => path)
  const read = async ({ user, val, branchId }: Scene, path: string, version?: number) => {
    const query = { path, branch_id: branchId, ...(version === undefined ? {} : { version }) }
    return (await openVt(user).sdk.valFiles.getContent(val.id, query)).text()
  }

  describe("create", () => {
    test("makes a val of a folder: directories first, one version for each item", async () => {
      const user = await loopback.api.addUser("creator")
      const [vt, folder] = [openVt(user), newFolder()]
      await folder.write("main.http.tsx", "export default () => new Response('OK')")
      await folder.write("jobs/cron.ts", "export default () => {}")
      await folder.write("jobs/deep/email.ts", "export default () => {}")
      await folder.write("lib/http-cron.ts", "export {}")
      await folder.write("notes.txt", "cron")
      await folder.makeDirectory("empty")
      const { warnings } = await vt.create(folder, { name: "made", privacy: "unlisted" })
      expect(warnings).toEqual([])
      const { valId, branchId, version } = await folder.loadState()
      expect(version).toBe(9)
      const files = await vt.sdk.valFiles
        .retrieve(valId, { path: "", recursive: true, branch_id: branchId })
        .toArray()
      expect(files.map(({ path, type }) => `${path} ${type}`)).toEqual([
        "empty directory",
        "jobs directory",
        "jobs/cron.ts interval",
        "jobs/deep directory",
        "jobs/deep/email.ts email",
        "lib directory",
        "lib/http-cron.ts script",
        "main.http.tsx http",
        "notes.txt file",
      ])
      for (const { type, links } of files) {
        expect([type, links.endpoint !== undefined]).toEqual([type, type === "http"])
        expect([type, links.email !== undefined]).toEqual([type, type === "email"])
      }
    })

    test("of a name that is taken is a conflict, and of an empty folder an empty val", async () => {
      const user = await loopback.api.addUser("twice")
      await openVt(user).create(newFolder(), { name: "once", privacy: "private" })
      const again = openVt(user).create(newFolder(), { name: "once", privacy: "private" })
      expect(await again.catch((error: unknown) => error)).toBeInstanceOf(ConflictError)
    })
  })

  describe("clone", () => {
    test("downloads a val of 1,000 files, all at once", async () => {
      const { user, val } = await openScene()
      const changes = Array.from({ length: 1_000 }, (_, index) => ({
        path: `d${index % 10}/f${index}.txt`,
        type: "file",
        content: `text ${index}`,
      }))
      const path = `/v1/vals/${val.id}/files`
      expectStatus(await loopback.api.call("POST", path, { as: user, body: { changes } }), 200)
      const folder = newFolder()
      await openVt(user).clone(folder, [user.username, "demo"])
      const files = (await folder.list()).filter(({ isDirectory }) => !isDirectory)
      expect(files.map(({ path, content }) => `${path} ${content}`).sort()).toEqual(
        changes.map(({ path, content }) => `${path} ${content}`).sort(),
      )
    })

    test("fails for a val that the caller cannot see", async () => {
      const { user } = await openScene()
      const stranger = await loopback.api.addUser("nosy")
      const failed = openVt(stranger).clone(newFolder(), [user.username, "demo"])
      expect(await failed.catch((error: unknown) => error)).toBeInstanceOf(NotFoundError)
    })
  })

  describe("status", () => {
    test("shows versions from 0, and what is created, modified, deleted and renamed", async () => {
      const scene = await openScene()
      const { vt, folder, user } = scene
      expect(await openVt(user).status(folder)).toEqual({ range: "main@0..0..0", items: [] })
      await folder.write("same.ts", "export const same = 1")
      await folder.write("changed.ts", "export const changed = 1")
      await vt.push(folder)
      expect((await openVt(user).status(folder)).range).toBe("main@0..2..2")
      await folder.write("changed.ts", "export const changed = 2")
      await rename(join(folder.root, "same.ts"), join(folder.root, "renamed.ts"))
      await folder.write("new.txt", "new")
      const { items } = await openVt(user).status(folder)
      expect(items.map(toLine).sort()).toEqual([
        "created new.txt file",
        "modified changed.ts script",
        "renamed renamed.ts script",
      ])
    })

    test("downloads no content while the times are those of the server", async () => {
      const scene = await openScene()
      await scene.folder.write("a.ts", "1")
      await scene.folder.write("lib/b.ts", "2")
      await scene.vt.push(scene.folder)
      const copy = newFolder()
      await openVt(scene.user).clone(copy, [scene.user.username, "demo"])
      const before = loopback.seen.length
      const { items } = await openVt(scene.user).status(copy)
      await openVt(scene.user).pull(copy)
      expect(items.map(({ kind }) => kind)).toEqual([
        "not_modified",
        "not_modified",
        "not_modified",
      ])
      const paths = loopback.seen.slice(before).map(({ path }) => path)
      expect(paths.filter((path) => path.endsWith("/content"))).toEqual([])
    })
  })

  describe("push", () => {
    test("creates, changes and deletes a file, each a version that stays", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      const push = () => openVt(user).push(folder)
      await folder.write("test.txt", "test")
      await push()
      await folder.write("test.txt", "test2")
      await push()
      await folder.remove("test.txt")
      await push()
      expect((await scene.readBranch()).version).toBe(3)
      expect(await read(scene, "test.txt", 1)).toBe("test")
      expect(await read(scene, "test.txt", 2)).toBe("test2")
      for (const version of [0, 3, 4, undefined])
        expect(
          await read(scene, "test.txt", version).catch((error: unknown) => error),
        ).toBeInstanceOf(NotFoundError)
      expect(await listPaths(scene, 0)).toEqual([])
      expect(await listPaths(scene, 2)).toEqual(["test.txt"])
    })

    test("renames and edits in one version, keeps id and type, and leaves the folder", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      await folder.write("folder/old.http.ts", "export default () => new Response('content')")
      await openVt(user).push(folder)
      const [, before] = await listFiles(scene)
      await folder.remove("folder/old.http.ts")
      await folder.write("new.tsx", "export default () => new Response('contents')")
      const { items } = await openVt(user).push(folder)
      expect(items.map(toLine)).toContain("renamed new.tsx http")
      const files = await listFiles(scene)
      expect(files.map(({ path, type }) => `${path} ${type}`)).toEqual([
        "folder directory",
        "new.tsx http",
      ])
      expect(files[1]?.id).toBe(before?.id as string)
      expect(files[1]?.links.endpoint).toBe(before?.links.endpoint as string)
      expect((await scene.readBranch()).version).toBe(3)
      expect(await read(scene, "new.tsx", 4)).toContain("contents")
      expect(await openVt(user).status(folder)).toMatchObject({ range: "main@0..3..3" })
    })

    test("gives a file that was deleted and created again a new id", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      await folder.write("a.txt", "one")
      await openVt(user).push(folder)
      const [before] = await listFiles(scene)
      await folder.remove("a.txt")
      await openVt(user).push(folder)
      await folder.write("a.txt", "one")
      await openVt(user).push(folder)
      const [after] = await listFiles(scene)
      expect(after?.path).toBe("a.txt")
      expect(after?.id).not.toBe(before?.id as string)
    })

    test("deletes a folder and its contents at once, without a warning", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      for (const path of ["a.ts", "b/c.ts", "b/d/e.ts", "f.ts"])
        await folder.write(`lib/${path}`, path)
      await openVt(user).push(folder)
      await folder.remove("lib")
      const { warnings } = await openVt(user).push(folder)
      expect(warnings).toEqual([])
      expect(await listPaths(scene)).toEqual([])
    })

    test("writes 30 files, five at a time: a version for each, none lost", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      const paths = Array.from(
        { length: 30 },
        (_, index) => `f${String(index).padStart(2, "0")}.ts`,
      )
      for (const path of paths) await folder.write(path, `export default "${path}"`)
      const { warnings } = await openVt(user).push(folder)
      expect(warnings).toEqual([])
      expect((await scene.readBranch()).version).toBe(30)
      expect(await listPaths(scene)).toEqual(paths)
      const versions = (await listFiles(scene)).map(({ version }) => version)
      expect(versions.sort((one, other) => one - other)).toEqual(paths.map((_, index) => index + 1))
      for (const version of [1, 15, 29])
        expect(await listPaths(scene, version)).toHaveLength(version)
    })

    test("sends no empty, binary, large or badly named file", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      await folder.write("empty.ts", "")
      await folder.write("binary.ts", "a\0b")
      await folder.write("large.ts", "x".repeat(80_001))
      await folder.write("bad name.ts", "1")
      await folder.write("good.ts", "1")
      const { warnings } = await openVt(user).push(folder)
      expect([...warnings].sort()).toEqual([
        "bad name.ts: bad_name",
        "binary.ts: binary",
        "empty.ts: empty",
        "large.ts: too_large",
      ])
      expect(await listPaths(scene)).toEqual(["good.ts"])
    })

    test("of another user's val fails before anything is sent", async () => {
      const owner = await loopback.api.addUser("owner")
      await openVt(owner).create(newFolder(), { name: "open", privacy: "public" })
      const stranger = await loopback.api.addUser("stranger")
      const folder = newFolder()
      await openVt(stranger).clone(folder, ["owner", "open"])
      await folder.write("mine.ts", "1")
      const failed = await openVt(stranger)
        .push(folder)
        .catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(PermissionDeniedError)
      const { valId } = await folder.loadState()
      expect((await openVt(owner).sdk.branches.retrieve(valId, valId)).version).toBe(0)
    })
  })

  describe("a token", () => {
    test("without val:write may clone but not push; an unknown one is not logged in", async () => {
      const { user, folder } = await openScene()
      const body = { name: "reader", scopes: ["val:read"] }
      const made = await loopback.api.call("POST", "/v1/me/tokens", { as: user, body })
      const reader = { ...user, token: expectStatus(made, 200).json.token }
      // Every status of `GET /v1/me` but 401 is a login.
      const me = await openVt(reader)
        .me()
        .catch((error: unknown) => error)
      expect(me).toBeInstanceOf(PermissionDeniedError)
      const { sdk } = openVt(reader)
      const { valId } = await folder.loadState()
      expect(await sdk.valFiles.retrieve(valId, { path: "" }).toArray()).toEqual([])
      const probe = sdk.valFiles.update(valId, { path: crypto.randomUUID() })
      expect(await probe.catch((error: unknown) => error)).toBeInstanceOf(PermissionDeniedError)
      const unknown = openVt({ ...user, token: "x".repeat(43) }).me()
      expect(await unknown.catch((error: unknown) => error)).toBeInstanceOf(AuthenticationError)
    })
  })

  describe("pull", () => {
    test("makes the folder what the server has, with the times of the server", async () => {
      const scene = await openScene()
      const { folder, user, vt, val } = scene
      await folder.write("kept.ts", "1")
      await folder.write("gone/a.ts", "1")
      await vt.push(folder)
      const { valFiles } = openVt(user).sdk
      await Promise.all([
        valFiles.create(val.id, { path: "nested/file.txt", type: "file", content: "text" }),
        valFiles.create(val.id, { path: "nested/folder", type: "directory" }),
      ])
      await valFiles.update(val.id, { path: "kept.ts", content: "2" })
      await valFiles.delete(val.id, { path: "gone", recursive: true })
      await openVt(user).pull(folder)
      const local = await folder.list()
      expect(local.map(({ path }) => path)).toEqual([
        "kept.ts",
        "nested",
        "nested/file.txt",
        "nested/folder",
      ])
      const remote = new Map((await listFiles(scene)).map((file) => [file.path, file.updatedAt]))
      for (const { path, isDirectory, mtimeMs } of local)
        if (!isDirectory) expect(new Date(mtimeMs).toISOString()).toBe(remote.get(path) as string)
      expect(await folder.read("kept.ts")).toBe("2")
    })

    test("sees another time exactly if the content has changed", async () => {
      const scene = await openScene()
      const { folder, vt, val } = scene
      await folder.write("a.ts", "1")
      await folder.write("b.ts", "1")
      await vt.push(folder)
      const before = await listFiles(scene)
      await vt.sdk.valFiles.update(val.id, { path: "a.ts", content: "1", name: "a.ts" })
      expect(await listFiles(scene)).toEqual(before)
      await vt.sdk.valFiles.update(val.id, { path: "a.ts", content: "2" })
      const after = await listFiles(scene)
      const times = (files: typeof before) => files.map(({ updatedAt }) => updatedAt)
      expect(times(after)).toEqual([
        expect.not.stringMatching(before[0]?.updatedAt ?? ""),
        times(before)[1],
      ])
      expect(after.map(({ version }) => version)).toEqual([3, before[1]?.version ?? 0])
    })
  })

  describe("checkout", () => {
    test("-b makes a branch with the same files, whose writes do not touch main", async () => {
      const scene = await openScene()
      const { folder, user, vt } = scene
      await folder.write("main.ts", "1")
      await vt.push(folder)
      const branch = await openVt(user).checkoutNew(folder, "try")
      expect(branch).toMatchObject({ name: "try", version: 0, forkedBranchId: scene.branchId })
      expect(await openVt(user).status(folder)).toMatchObject({
        range: "try@0..0..0",
        items: [{ kind: "not_modified" }],
      })
      await folder.write("main.ts", "2")
      await folder.write("extra/only.ts", "1")
      await openVt(user).push(folder)
      await openVt(user).checkout(folder, "main")
      expect((await folder.list()).map(({ path, content }) => [path, content])).toEqual([
        ["main.ts", "1"],
      ])
      await openVt(user).checkout(folder, "try")
      expect((await folder.list()).map(({ path, content }) => [path, content])).toEqual([
        ["extra", ""],
        ["extra/only.ts", "1"],
        ["main.ts", "2"],
      ])
      expect((await folder.loadState()).version).toBe(3)
      expect(await listPaths(scene)).toEqual(["main.ts"])
    })

    test("reads a branch at the higher number of another one", async () => {
      const scene = await openScene()
      const { folder, user, vt } = scene
      for (const text of ["1", "2", "3"]) {
        await folder.write("main.ts", text)
        await vt.push(folder)
      }
      await openVt(user).checkoutNew(folder, "low")
      await openVt(user).checkout(folder, "main")
      await openVt(user).checkout(folder, "low")
      expect(await folder.read("main.ts")).toBe("3")
      expect((await folder.loadState()).version).toBe(0)
    })

    test("-b of a name that exists is a conflict, and of another user's val is refused", async () => {
      const scene = await openScene()
      const failed = (folder: VtFolder, user: TestUser, name: string) =>
        openVt(user)
          .checkoutNew(folder, name)
          .catch((error: unknown) => error)
      expect(await failed(scene.folder, scene.user, "main")).toBeInstanceOf(ConflictError)
      const folder = newFolder()
      const user = await loopback.api.addUser("brancher")
      await openVt(scene.user).sdk.vals.create({ name: "public", privacy: "public" })
      await openVt(user).clone(folder, [scene.user.username, "public"])
      expect(await failed(folder, user, "mine")).toBeInstanceOf(PermissionDeniedError)
    })
  })

  describe("branch", () => {
    test("lists branches; -D deletes one, which is then not found", async () => {
      const scene = await openScene()
      const { folder, user, val } = scene
      await openVt(user).checkoutNew(folder, "try")
      const names = (branches: readonly Branch[]) => branches.map(({ name }) => name).sort()
      expect(names(await openVt(user).listBranches(folder))).toEqual(["main", "try"])
      await openVt(user).deleteBranch(folder, "try")
      expect(names(await openVt(user).listBranches(folder))).toEqual(["main"])
      const { branchId } = await folder.loadState()
      const { branches } = openVt(user).sdk
      const missing = await branches.retrieve(val.id, branchId).catch((error: unknown) => error)
      expect(missing).toBeInstanceOf(NotFoundError)
    })
  })

  describe("remix", () => {
    test("copies a val with the types of its files", async () => {
      const owner = await loopback.api.addUser("original")
      const source = newFolder()
      await source.write("main.ts", "export default () => new Response('OK')")
      await source.write("lib/cron.ts", "export {}")
      await openVt(owner).create(source, { name: "tool", privacy: "public" })
      const { valId } = await source.loadState()
      await openVt(owner).sdk.valFiles.update(valId, { path: "main.ts", type: "http" })
      const user = await loopback.api.addUser("remixer")
      const folder = newFolder()
      const val = await openVt(user).remix(folder, ["original", "tool"], "tool")
      expect(val).toMatchObject({ author: { username: "remixer" }, privacy: "public" })
      const files = await openVt(user)
        .sdk.valFiles.retrieve(val.id, { path: "", recursive: true })
        .toArray()
      expect(files.map(({ path, type }) => `${path} ${type}`)).toEqual([
        "lib directory",
        "lib/cron.ts interval",
        "main.ts http",
      ])
      expect(await openVt(user).status(folder)).toMatchObject({
        items: files.map(() => ({ kind: "not_modified" })),
      })
    })
  })

  describe("watch", () => {
    test("pushes files that are written in rapid succession", async () => {
      const scene = await openScene()
      const { folder, user } = scene
      await folder.write("main.http.ts", "export default () => new Response('OK')")
      const watching = await openVt(user).watch(folder, 100)
      expect(watching.endpoints).toHaveLength(1)
      const paths = Array.from({ length: 11 }, (_, index) => `rapid-file-${index}.js`)
      for (const path of paths) await folder.write(path, `console.log("${path}")`)
      await waitUntil(async () => (await listPaths(scene)).length === 12)
      await watching.stop()
      const { items } = await openVt(user).status(folder)
      expect(items.filter(({ kind }) => kind !== "not_modified")).toEqual([])
    })
  })

  describe("tail", () => {
    test("shows runs in the order of their ends, each once, also within a millisecond", async () => {
      const { user, vt } = await openScene()
      const add = async (fields: object) => {
        const body = { code: "1", ...fields }
        return expectStatus(await loopback.api.call("POST", "/v1/vals", { as: user, body }), 200)
          .json
      }
      const page = await add({ name: "page", type: "http" })
      const job = await add({ name: "job", type: "interval" })
      const since = new Date(Date.now() - 60_000)
      const toRun = (index: number, fields: Partial<RunRecord>) => {
        const endedAt = since.getTime() + 1_000 + Math.floor(index / 5)
        const times = { startedAt: endedAt - 1 - (index % 3), endedAt }
        const logs = toLines(endedAt, [`first ${index}`, `second ${index}`])
        return toEndedRun({ valId: job.id, ownerId: user.id, ...times, logs, ...fields })
      }
      const runs = Array.from({ length: 120 }, (_, index) => toRun(index, {}))
      const error = { name: "Error", message: "No" }
      const request = { method: "get", url: "http://page.test/a?b", status: 201 }
      const others = [
        toRun(200, { status: "failed", error, logs: [] }),
        toRun(205, { valId: page.id, source: "http", request }),
        toRun(210, { valId: page.id, logs: [] }),
      ]
      await loopback.api.hamlet.stores.runs.record([...runs, ...others].toReversed())
      const seen: TailedRun[] = []
      for await (const run of vt.tail([page.id, job.id], { since, pauseMs: 20 })) {
        seen.push(run)
        if (seen.length === 123) break
      }
      const texts = runs.map((_, index) => `stdout: first ${index} stderr: second ${index}`)
      expect(
        seen
          .slice(0, 120)
          .map(({ lines }) => lines.join(" "))
          .sort(),
      ).toEqual(texts.sort())
      expect(seen.slice(120)).toMatchObject([
        { path: "main.tsx", type: "interval", status: "2", lines: [] },
        { type: "http", status: "201", request: "GET http://page.test/a?b" },
        { type: "http", status: "??", request: expect.stringMatching(/^GET https?:\/\//) },
      ])
    })
  })

  test("list shows a page of vals from an offset, or all; browse the page of a branch", async () => {
    const { user, folder } = await openScene()
    const vt = openVt(user)
    for (let index = 0; index < 24; index += 1)
      await vt.sdk.vals.create({ name: `val${index}`, privacy: "private" })
    expect(await vt.list()).toHaveLength(20)
    const all = await vt.list({ isAll: true })
    expect(new Set(all.map(({ id }) => id)).size).toBe(25)
    expect((await vt.list({ offset: 20 })).map(({ id }) => id)).toEqual(
      all.slice(20).map(({ id }) => id),
    )
    expect(await vt.browse(folder)).toStartWith(`${loopback.baseUrl}/x/${user.username}/demo`)
  })

  test("delete deletes the val and leaves the files", async () => {
    const { user, folder, val, vt } = await openScene()
    await folder.write("main.ts", "1")
    await vt.push(folder)
    await vt.delete(folder)
    const missing = await openVt(user)
      .sdk.vals.retrieve(val.id)
      .catch((error: unknown) => error)
    expect(missing).toBeInstanceOf(NotFoundError)
    expect((await folder.list()).map(({ path }) => path)).toEqual(["main.ts"])
    await expect(folder.loadState()).rejects.toThrow()
  })
})

interface Scene {
  readonly user: TestUser
  readonly vt: VtClient
  readonly folder: VtFolder
  readonly val: Val
  readonly branchId: string
  readonly readBranch: () => Promise<Branch>
}

function toLine({ kind, path, type }: ItemStatus): string {
  return `${kind} ${path} ${type}`
}

/** Lines of one millisecond, to both streams in turn. */
function toLines(at: number, messages: readonly string[]): RunRecord["logs"] {
  return messages.map((message, index) => ({
    at: new Date(at).toISOString(),
    message,
    level: index % 2 === 0 ? "log" : "error",
  }))
}
