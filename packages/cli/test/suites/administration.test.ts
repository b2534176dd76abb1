import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { useStage } from "../support/shared-stage.ts"

describe("user, invite, blob, sql, session", () => {
  const stage = useStage()

  test("user suspend, unsuspend and rm print the new state of a user", async () => {
    const { admin } = stage()
    const grace = await stage().person("grace1")
    expect(await admin.print(["user", "suspend", "grace1", "--reason", "spam"])).toBe("grace1\n")
    expect(await grace.hamlet(["whoami"])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining("suspended; ask the administrator"),
    })
    expect((await admin.json(["user", "show", "@Grace1"]))[0]).toMatchObject({
      username: "grace1",
      suspendedAt: expect.any(String),
    })
    expect(await admin.print(["user", "list", "--all"])).toMatch(/^grace1\t\tsuspended\t/m)
    await admin.print(["user", "unsuspend", "grace1"])
    expect(await grace.print(["whoami"])).toContain("grace1")
    expect((await admin.hamlet(["user", "rm", "grace1"])).exit).toBe(2)
    await admin.print(["user", "rm", "grace1", "--yes"])
    expect(await admin.print(["user", "list", "--all"])).toMatch(/^grace1\t\tdeleted\t/m)
    expect(await admin.json(["user", "rm", "grace1", "--yes", "--with-data"])).toMatchObject([
      { withData: true },
    ])
    expect(await admin.hamlet(["user", "show", "grace1"])).toMatchObject({ exit: 4 })
    expect(await admin.hamlet(["user", "suspend", "root"])).toMatchObject({ exit: 5 })
    expect(await (await stage().person("eve1")).hamlet(["user", "suspend", "root"])).toMatchObject({
      exit: 3,
    })
  })

  test("user token, usage and quota", async () => {
    const { admin } = stage()
    await stage().person("grace2")
    const token = (
      await admin.print(["user", "token", "grace2", "--scope", "user:read", "--name", "new"])
    ).trim()
    expect(await (await stage().holder(token)).print(["whoami"])).toContain("username\tgrace2")
    expect(
      await admin.print(["user", "quota", "grace2", "--blob-bytes", "2k", "--runs-at-once", "7"]),
    ).toMatch(/^blobBytes\t2048$/m)
    expect(await admin.print(["user", "quota", "grace2", "--runs-at-once", "default"])).toMatch(
      /^runsAtOnce\tdefault$/m,
    )
    expect((await admin.json(["user", "quota", "grace2"]))[0]).toMatchObject({
      blobBytes: 2048,
      runsAtOnce: null,
    })
    expect(await admin.print(["user", "usage", "grace2"])).toContain("blobs\t0\t2048\t0\n")
    expect((await admin.hamlet(["user", "quota", "grace2", "--blob-bytes", "lots"])).exit).toBe(2)
  })

  test("invite creates a link with which join creates an account and signs in, once", async () => {
    const { admin } = stage()
    const link = (await admin.print(["invite", "new", "--note", "for Ida", "--hours", "2"])).trim()
    expect(await admin.print(["invite", "list"])).toContain("for Ida\troot\t")
    const ida = await stage().holder("none", false)
    expect(await ida.hamlet(["join", link, "root"])).toMatchObject({ exit: 5 })
    expect(await ida.print(["join", link, "ida"])).toBe("ida\n")
    expect(await ida.print(["whoami"])).toContain("username\tida\n")
    expect(await ida.hamlet(["join", link, "ida2"])).toMatchObject({ exit: 4 })
    expect(await ida.hamlet(["join", link.replace(/#.*/, ""), "ida2"])).toMatchObject({ exit: 2 })
    const [{ id }] = (await admin.json(["invite", "new"])) as [{ id: string }]
    expect(await admin.print(["invite", "revoke", id])).toBe(`${id}\n`)
    expect(await admin.hamlet(["invite", "revoke", id])).toMatchObject({ exit: 4 })
    expect(await admin.print(["audit", "--action", "invitation.revoke", "-n", "1"])).toMatch(
      /\troot\tinvitation\.revoke\t/,
    )
  })

  test("node list shows the nodes, to administrators", async () => {
    const { admin } = stage()
    const [node] = (await admin.json(["node", "list"])) as [{ id: string; host: string }]
    expect(await admin.print(["node", "list"])).toMatch(
      new RegExp(`^${node.host}\t[\\w.:-]+\tactive\t[\\d.]+\t\\d+\t.*\t${node.id}\n$`),
    )
    const { exit } = await (await stage().person("outsider")).hamlet(["node", "list"])
    expect(exit).toBe(3)
  })

  test("login works with a token without the scope to read its user", async () => {
    const ada = await stage().person("nameless")
    const { token } = await ada.client.createToken({
      name: "reader",
      scopes: ["val:read", "blob:read"],
    })
    const reader = await stage().holder(token, false)
    const { exit, stderr } = await reader.hamlet(["login", stage().url], { input: token })
    expect([exit, stderr]).toEqual([0, expect.stringContaining("user:read")])
    expect(await reader.print(["blob", "list"])).toBe("")
    expect(await reader.print(["server", "list"])).toContain(stage().url)
    expect(await reader.hamlet(["whoami"])).toMatchObject({ exit: 3 })
  })

  test("blob put, list, get and rm keep bytes unchanged", async () => {
    const ada = await stage().person("blobber")
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256)
    writeFileSync(join(ada.folder, "in.bin"), bytes)
    expect(await ada.print(["blob", "put", "photos/a b.bin", "in.bin"])).toBe("photos/a b.bin\n")
    await ada.print(["blob", "put", "note"], { input: "hello" })
    expect(await ada.print(["blob", "list"])).toMatch(
      /^note\t5\t\S+\nphotos\/a b\.bin\t70000\t\S+\n$/,
    )
    expect(await ada.print(["blob", "list", "photos/", "-n", "1"])).toMatch(/^photos/)
    expect(await ada.print(["blob", "get", "note"])).toBe("hello")
    await ada.print(["blob", "get", "photos/a b.bin", "-o", "out.bin"])
    expect(new Uint8Array(readFileSync(join(ada.folder, "out.bin")))).toEqual(bytes)
    expect((await ada.hamlet(["blob", "get", "note", "-o", "out.bin"])).exit).toBe(5)
    await ada.print(["blob", "get", "note", "-o", "out.bin", "--force"])
    expect(readFileSync(join(ada.folder, "out.bin"), "utf8")).toBe("hello")
    await ada.print(["blob", "rm", "note", "photos/a b.bin", "--yes"])
    expect(await ada.print(["blob", "list"])).toBe("")
    expect([
      (await ada.hamlet(["blob", "get", "note"])).exit,
      (await ada.hamlet(["blob", "put", "x", "missing"])).exit,
    ]).toEqual([4, 4])
  })

  test("sql runs a statement with arguments, and shows rows", async () => {
    const ada = await stage().person("querier")
    await ada.print(["sql"], { input: "create table notes (id integer primary key, text text)" })
    expect(
      await ada.hamlet(["sql", "insert into notes (text) values (?), (?)", "one", "2"]),
    ).toMatchObject({ stderr: "2 rows changed\n" })
    expect(await ada.print(["sql", "select * from notes order by id"])).toBe("1\tone\n2\t2\n")
    expect(
      (await ada.json(["sql", "select count(*) as n from notes where id = ?", "1"]))[0],
    ).toMatchObject({ columns: ["n"], rows: [[1]] })
    expect(await ada.hamlet(["sql", "select * from missing"])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("no such table"),
    })
    expect((await ada.hamlet(["sql"], { input: " " })).exit).toBe(2)
  })

  test("sql and blob reach what a val has of its own with --val", async () => {
    const ada = await stage().person("keeper")
    await ada.print(["val", "new", "shop"], { input: "export default 1" })
    await ada.print(["sql", "--val", "shop", "create table orders (id integer)"])
    await ada.print(["sql", "--val", "shop", "insert into orders values (7)"])
    expect(await ada.print(["sql", "--val", "shop", "select * from orders"])).toBe("7\n")
    expect((await ada.hamlet(["sql", "select * from orders"])).stderr).toContain("no such table")
    await ada.print(["blob", "put", "note", "--val", "shop"], { input: "hello" })
    expect(await ada.print(["blob", "list", "--val", "shop"])).toMatch(/^note\t5\t/)
    expect(await ada.print(["blob", "list"])).toBe("")
    expect(await ada.print(["blob", "get", "note", "--val", "keeper/shop"])).toBe("hello")
    await ada.print(["val", "clone", "keeper/shop"])
    const folder = join(ada.folder, "shop")
    expect(await ada.print(["blob", "get", "note", "--val", "."], { cwd: folder })).toBe("hello")
    await ada.print(["blob", "rm", "note", "--val", "shop", "--yes"])
    expect((await ada.hamlet(["blob", "get", "note", "--val", "shop"])).exit).toBe(4)
    const eve = await stage().person("keeper2")
    expect((await eve.hamlet(["sql", "--val", "keeper/shop", "select 1"])).exit).toBe(4)
  })

  test("session list and revoke, val preview", async () => {
    const ada = await stage().person("browser")
    const headers = { "x-hamlet-session": "1", "user-agent": "Lynx" }
    const signIn = () =>
      fetch(`${stage().url}/v1/sessions`, {
        method: "POST",
        headers,
        body: JSON.stringify({ token: ada.token }),
      })
    expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 200])
    const sessions = await ada.json(["session", "list"])
    expect(sessions.map(({ userAgent }) => userAgent)).toEqual(["Lynx", "Lynx"])
    await ada.print(["session", "revoke", sessions[0].id])
    expect(await ada.hamlet(["session", "revoke", sessions[0].id])).toMatchObject({ exit: 4 })
    expect((await ada.hamlet(["session", "revoke"])).exit).toBe(2)
    await ada.print(["session", "revoke", "--all"])
    expect(await ada.print(["session", "list"])).toBe("")

    await ada.client.createVal({
      name: "page",
      code: "export default () => new Response('seen')",
      type: "http",
      privacy: "private",
    })
    const [preview] = (await ada.json(["val", "preview", "page"])) as [
      { url: string; expiresAt: string },
    ]
    expect([new URL(preview.url).hostname.split(".")[0]?.length, typeof preview.expiresAt]).toEqual(
      [52, "string"],
    )
    await ada.client.createVal({ name: "script", code: "1" })
    expect(await ada.hamlet(["val", "preview", "script"])).toMatchObject({ exit: 5 })
  })
})
