import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { describeSqlite } from "../support/databases.ts"
import type { LoopbackRequest } from "../support/loopback.ts"
import { SdkClient } from "./sdk-client.ts"
import {
  addFile,
  addVal,
  operationNames,
  operations,
  type SdkAccount,
  toFailure,
} from "./sdk-operations.ts"
import { toResults } from "./sdk-results.ts"
import { openSdkServer, type SdkServer } from "./sdk-server.ts"
import { NotFoundError } from "./sdk-transport.ts"

describeSqlite("v2: the official client, release 3.12", (open) => {
  let server: SdkServer
  let account: SdkAccount
  let client: SdkClient

  beforeAll(async () => {
    server = await openSdkServer(open)
    account = await server.addAccount()
    client = new SdkClient(account)
  })
  afterAll(() => server.close())

  /** What the call requests, and what it results in. */
  async function record<T>(call: () => Promise<T>): Promise<[LoopbackRequest[], T]> {
    const before = server.loopback.seen.length
    const result = await call()
    return [server.loopback.seen.slice(before), result]
  }

  describe("calls", () => {
    for (const name of operationNames)
      test(name, async () => {
        const [seen, result] = await record<unknown>(() => operations[name]({ ...account, client }))
        expect(JSON.parse(JSON.stringify(result))).toEqual(toResults(account)[name])
        const [method, path = ""] = name.split(" ")
        const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`)
        const own = seen.filter((it) => it.method === method && pattern.test(it.path))
        expect(own).not.toEqual([])
        for (const { headers } of own) {
          expect(headers.get("x-stainless-retry-count")).toBe("0")
          expect(headers.get("authorization")).toBe(`Bearer ${account.apiKey}`)
        }
      })

    test("all 36 operations", () => expect(operationNames).toHaveLength(36))
  })

  describe("reads lists", () => {
    test("along absolute links with the whole query, until there is no next", async () => {
      const { id } = await addVal(client)
      for (const path of ["a.ts", "b.ts", "c.ts"]) await addFile(client, id, path)
      const query = { path: "", recursive: true, version: 2, limit: 1 }
      const [seen, pages] = await record(() =>
        Array.fromAsync(client.valFiles.retrieve(id, query).pages()),
      )
      expect(pages.map(({ data }) => data.map(({ path }) => path))).toEqual([["a.ts"], ["b.ts"]])
      expect(pages.map(({ links }) => links.next !== undefined)).toEqual([true, false])
      const second = { path: "", recursive: "true", version: "2", limit: "1", offset: "1" }
      expect(Object.fromEntries(seen[1]?.query ?? [])).toEqual({ ...second, branch_id: id })
      expect(pages[0]?.links.next).toStartWith(`${account.baseUrl}/v2/vals/${id}/files?`)
    })

    test("of a file: the file itself; of a directory: what is in it, or all of it", async () => {
      const { id } = await addVal(client)
      for (const path of ["lib/a.ts", "lib/deep/b.ts", "library.ts"])
        await addFile(client, id, path)
      const list = async (path: string, recursive: boolean) =>
        (await client.valFiles.retrieve(id, { path, recursive }).toArray()).map((file) => file.path)
      expect(await list("lib/a.ts", true)).toEqual(["lib/a.ts"])
      expect(await list("lib", false)).toEqual(["lib/a.ts", "lib/deep"])
      expect(await list("lib", true)).toEqual(["lib/a.ts", "lib/deep", "lib/deep/b.ts"])
      expect(await list("", false)).toEqual(["lib", "library.ts"])
      expect((await toFailure(list("li", true)))[0]).toBe("NotFoundError")
    })

    test("of a version that does not change while others save", async () => {
      const { id } = await addVal(client)
      for (const path of ["b.ts", "d.ts"]) await addFile(client, id, path)
      const paths: string[] = []
      for await (const file of client.valFiles.retrieve(id, { path: "", version: 2, limit: 1 })) {
        paths.push(file.path)
        await addFile(client, id, `a${paths.length}.ts`)
      }
      expect(paths).toEqual(["b.ts", "d.ts"])
    })

    test("of vals with the address of the next page as the cursor, newest first", async () => {
      const reader = new SdkClient(await server.addAccount())
      const { userId } = await server.addAccount().then(async (other) => {
        const writer = new SdkClient(other)
        for (const name of ["one", "two", "three"])
          await writer.vals.create({ name, privacy: "public" })
        return other
      })
      const [seen, vals] = await record(() =>
        reader.vals.list({ limit: 2, user_id: userId, privacy: "public" }).toArray(),
      )
      expect(vals.map(({ name }) => name)).toEqual(["three", "two", "one"])
      expect(seen).toHaveLength(2)
      expect(seen[1]?.query.get("cursor")).toStartWith(`${account.baseUrl}/v2/vals?`)
      expect(seen[1]?.query.get("user_id")).toBe(userId)
    })

    test("of vals before a time", async () => {
      const other = await server.addAccount()
      const writer = new SdkClient(other)
      const { createdAt } = await addVal(writer)
      const page = writer.vals.list({ user_id: other.userId, cursor: createdAt })
      const times = (await page.toArray()).map((val) => Date.parse(val.createdAt))
      expect(times.filter((time) => time >= Date.parse(createdAt))).toEqual([])
    })

    test("without limit and offset", async () => {
      const { id } = await addVal(client)
      expect(await client.branches.list(id).toArray()).toHaveLength(1)
      expect(await client.valFiles.retrieve(id, { path: "" }).toArray()).toEqual([])
    })

    test("with the same query parameter repeated, joined by commas or with brackets", async () => {
      const { id } = await addVal(client)
      const main = await client.branches.list(id)[Symbol.asyncIterator]().next()
      const ids = [main.value?.id ?? "", crypto.randomUUID()]
      const { data } = await client.telemetry.listTraces({ branch_ids: ids, limit: 1 })
      expect(data).toEqual([])
      for (const query of [
        `branch_ids=${ids.join()}`,
        ids.map((it) => `branch_ids[]=${it}`).join("&"),
      ]) {
        const response = await fetch(`${account.baseUrl}/v1/telemetry/traces?${query}`, {
          headers: { authorization: `Bearer ${account.apiKey}` },
        })
        expect(await response.json()).toMatchObject({ data: [] })
      }
    })
  })

  describe("fails", () => {
    test("with the message of the body", async () => {
      const error = await client.vals.retrieve(crypto.randomUUID()).catch((it: unknown) => it)
      expect(error).toBeInstanceOf(NotFoundError)
      expect((error as Error).message).toStartWith("404 Cannot ")
    })

    test("once on a conflict: it is never sent again", async () => {
      const { id, name } = await addVal(client)
      await addFile(client, id, "a.ts")
      await addFile(client, id, "b.ts")
      await client.environmentVariables.create(id, { key: "KEY", value: "" })
      const conflicts = [
        () => client.vals.create({ name, privacy: "public" }),
        () => client.vals.create({ name: name.replace("_", "-"), privacy: "public" }),
        () => client.branches.create(id, { name: "main" }),
        () => client.branches.delete(id, id),
        () => addFile(client, id, "a.ts"),
        () => addFile(client, id, "A.ts"),
        () => client.valFiles.create(id, { path: "a.ts", type: "directory" }),
        () => addFile(client, id, "a.ts/b.ts"),
        () => client.valFiles.update(id, { path: "a.ts", name: "b.ts" }),
        () => client.environmentVariables.create(id, { key: "KEY", value: "" }),
      ]
      for (const conflict of conflicts) {
        const [seen, [kind]] = await record(() => toFailure(conflict()))
        expect([String(conflict), kind, seen.length]).toEqual([
          String(conflict),
          "ConflictError",
          1,
        ])
      }
    })

    test("without a token where one is needed, and reads public vals without one", async () => {
      const { id, name } = await client.vals.create({
        name: `public_${crypto.randomUUID().slice(0, 8)}`,
        privacy: "public",
      })
      const { id: fileId } = await addFile(client, id, "main.ts")
      const paths = [
        "/v2/vals",
        `/v2/vals/${id}`,
        `/v2/alias/vals/${account.username}/${name}`,
        `/v2/vals/${id}/branches`,
        `/v2/vals/${id}/branches/${id}`,
        `/v2/vals/${id}/files?path=`,
        `/v2/vals/${id}/files/content?path=main.ts`,
        `/v2/files/${fileId}`,
      ]
      for (const path of paths) {
        const { status } = await fetch(account.baseUrl + path)
        expect([path, status]).toEqual([path, 200])
      }
      for (const path of ["/v2/me/vals", "/v2/orgs", "/v1/telemetry/traces"]) {
        const { status } = await fetch(account.baseUrl + path)
        expect([path, status]).toEqual([path, 401])
      }
    })

    test("to see a private val of another user, and to change one that they can see", async () => {
      const other = new SdkClient(await server.addAccount())
      const hidden = await addVal(client)
      const { id: fileId } = await addFile(client, hidden.id, "main.ts")
      const shown = await client.vals.create({ name: "shown", privacy: "public" })
      await addFile(client, shown.id, "main.ts")
      const calls = (id: string) => [
        () => other.vals.delete(id),
        () => other.branches.create(id, { name: "b" }),
        () => addFile(other, id, "new.ts"),
        () => other.valFiles.update(id, { path: crypto.randomUUID() }),
        () => other.valFiles.delete(id, { path: "main.ts", recursive: true }),
        () => other.environmentVariables.create(id, { key: "KEY", value: "" }),
        () => other.environmentVariables.list(id).toArray(),
      ]
      for (const call of calls(shown.id))
        expect((await toFailure(call()))[0]).toBe("PermissionDeniedError")
      const reads = [
        () => other.vals.retrieve(hidden.id),
        () => other.branches.list(hidden.id).toArray(),
        () => other.valFiles.retrieve(hidden.id, { path: "" }).toArray(),
        () => other.valFiles.getContent(hidden.id, { path: "main.ts" }),
        () => other.files.retrieve(fileId),
      ]
      for (const call of [...calls(hidden.id), ...reads])
        expect((await toFailure(call()))[0]).toBe("NotFoundError")
    })

    test("for ids that are no UUIDs", async () => {
      const calls = [
        () => client.vals.retrieve("main"),
        () => client.branches.retrieve(crypto.randomUUID(), "main"),
        () => client.files.retrieve("main"),
        () => client.valFiles.retrieve("1", { path: "" }).toArray(),
        () => client.orgs.listMemberships("acme"),
      ]
      for (const call of calls)
        expect((await toFailure(call())).slice(0, 2)).toEqual(["BadRequestError", 400])
    })
  })

  describe("downloads", () => {
    test("content only if it has changed", async () => {
      const { id } = await addVal(client)
      await addFile(client, id, "main.ts")
      const first = await client.valFiles.getContent(id, { path: "main.ts" })
      const etag = first.headers.get("etag") ?? ""
      const modified = first.headers.get("last-modified") ?? ""
      expect(etag).toMatch(/^"[^"]+"$/)
      expect(first.headers.get("x-content-type-options")).toBe("nosniff")
      const download = (headers: Record<string, string>) =>
        toFailure(client.valFiles.getContent(id, { path: "main.ts", headers }))
      const statusOf = async (headers: Record<string, string>) => {
        const [kind, status] = await download(headers)
        return kind === "no error" ? 200 : status
      }
      const longAgo = "Sat, 01 Jan 2000 00:00:00 GMT"
      expect(await statusOf({ "If-None-Match": etag })).toBe(304)
      expect(await statusOf({ "If-None-Match": '"other"' })).toBe(200)
      expect(await statusOf({ "If-Match": etag })).toBe(200)
      expect(await statusOf({ "If-Match": '"other"' })).toBe(412)
      expect(await statusOf({ "If-Modified-Since": modified })).toBe(304)
      expect(await statusOf({ "If-Modified-Since": longAgo })).toBe(200)
      expect(await statusOf({ "If-Unmodified-Since": modified })).toBe(200)
      expect(await statusOf({ "If-Unmodified-Since": longAgo })).toBe(412)
      expect(await statusOf({ "Cache-Control": "no-cache" })).toBe(200)
    })

    test("an old version, and the newest for a number above it", async () => {
      const { id } = await addVal(client)
      await addFile(client, id, "main.ts")
      await client.valFiles.update(id, { path: "main.ts", content: "2" })
      const read = async (version: number) =>
        (await client.valFiles.getContent(id, { path: "main.ts", version })).text()
      expect(await Promise.all([read(1), read(2), read(1_000_000)])).toEqual(["1", "2", "2"])
      expect((await toFailure(read(0)))[0]).toBe("NotFoundError")
    })
  })
})
