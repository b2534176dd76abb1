import { afterAll, beforeAll, expect, test } from "bun:test"
import type { MailTarget } from "../../src/domain/mail/inbound/mail-address.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { createRandom, testSeed } from "../support/random.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

interface FileView {
  readonly id: string
  readonly path: string
  readonly type: string
  readonly links: { readonly endpoint?: string; readonly alias?: string }
}

describeEachDatabase("addresses that were given out", (open) => {
  let fixture: GatewayFixture
  beforeAll(async () => {
    fixture = await openGatewayFixture(open)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  /** Calls the API as ada; undefined if it refuses. */
  async function send(method: string, path: string, body?: object) {
    const response = await fixture.request(`127.0.0.1:${fixture.port}`, path, {
      method,
      headers: {
        authorization: `Bearer ${fixture.ada.token}`,
        "content-type": "application/json",
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status >= 500) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    if (!response.ok) return undefined
    return text === "" ? {} : JSON.parse(text)
  }

  async function call(method: string, path: string, body?: object) {
    const answer = await send(method, path, body)
    if (answer === undefined) throw new Error(`${method} ${path} was refused`)
    return answer
  }

  /** A val without files, as clients of `/v2` make it. */
  async function addFolder(name: string) {
    fixture.runner.serve(`ada/${name}`, () => new Response(name))
    const { id } = await call("POST", "/v2/vals", { name, privacy: "public" })
    return openFiles(id)
  }

  function openFiles(id: string) {
    const path = `/v2/vals/${id}/files`
    return {
      id,
      write: (file: string, type: string): Promise<FileView> =>
        call("POST", `${path}?path=${file}`, { type, content: "export default 1" }),
      change: (file: string, body: object) => call("PUT", `${path}?path=${file}`, body),
      remove: (file: string) => call("DELETE", `${path}?path=${file}&recursive=true`),
      list: async (): Promise<readonly FileView[]> =>
        (await call("GET", `${path}?path=&recursive=true&limit=100`)).data,
    }
  }

  /** The id of the file that an address answers with; undefined if it does not answer. */
  async function ask(address: string): Promise<string | undefined> {
    const { host } = new URL(address)
    const response = await fixture.request(host)
    await response.text()
    return response.status === 200 ? fixture.runner.started.at(-1) : undefined
  }
  const named = (name: string) => `http://ada-${name}.localhost:${fixture.port}`
  const ofVal = (id: string) => `http://${id.replaceAll("-", "")}.localhost:${fixture.port}`

  test("stay with the first http file of a val, whatever is added to it", async () => {
    const folder = await addFolder("first")
    const main = await folder.write("main.http.tsx", "http")
    expect(main.links.endpoint).toBe(
      `http://ada--${main.id.replaceAll("-", "")}.localhost:${fixture.port}`,
    )
    expect(main.links.alias).toBe(named("first"))
    const addresses = [main.links.endpoint ?? "", named("first"), ofVal(folder.id), ofVal(main.id)]
    const expectAll = async () => {
      for (const address of addresses)
        expect([address, await ask(address)]).toEqual([address, main.id])
    }
    await expectAll()
    for (const [path, type] of [
      ["api.http.ts", "http"],
      ["a.cron.ts", "interval"],
      ["main.tsx", "script"],
      ["index.ts", "http"],
    ] as const) {
      const other = await folder.write(path, type)
      await expectAll()
      if (type === "http") expect(await ask(other.links.endpoint ?? "")).toBe(other.id)
      expect(other.links.alias).toBeUndefined()
    }
    await folder.change("main.http.tsx", { name: "zzz.tsx" })
    await expectAll()
    await call("PUT", `/v1/vals/${folder.id}`, { type: "email" })
    await expectAll()
  })

  test("lead to nothing once their file is gone, and back when it is restored", async () => {
    const folder = await addFolder("gone")
    const main = await folder.write("main.http.tsx", "http")
    await folder.change("main.http.tsx", { type: "script" })
    expect(await ask(named("gone"))).toBeUndefined()
    const other = await folder.write("api.http.ts", "http")
    expect(await ask(named("gone"))).toBeUndefined()
    await folder.change("main.http.tsx", { type: "http" })
    expect(await ask(named("gone"))).toBe(main.id)
    await folder.remove("main.http.tsx")
    const again = await folder.write("main.http.tsx", "http")
    expect(again.id).not.toBe(main.id)
    for (const address of [named("gone"), ofVal(folder.id), main.links.endpoint ?? ""])
      expect(await ask(address)).toBeUndefined()
    expect(await ask(again.links.endpoint ?? "")).toBe(again.id)
    expect(await ask(other.links.endpoint ?? "")).toBe(other.id)
    await folder.remove("main.http.tsx")
    await call("POST", `/v1/vals/${folder.id}/versions/1/restore`, {})
    expect((await folder.list()).map(({ id }) => id)).toContain(main.id)
    expect(await ask(named("gone"))).toBe(main.id)
  })

  test("of a val from /v1 stay with its code", async () => {
    const val = await fixture.addVal("coded", undefined, { type: "script" })
    const folder = openFiles(val.id)
    const other = await folder.write("api.http.ts", "http")
    expect(await ask(named("coded"))).toBeUndefined()
    await call("PUT", `/v1/vals/${val.id}`, { type: "http" })
    expect(await ask(named("coded"))).toBe(val.id)
    const [, main] = (await folder.list()) as [FileView, FileView]
    expect(main.links).toMatchObject({ endpoint: named("coded") })
    expect(main.links.alias).toBeUndefined()
    await folder.remove("main.tsx")
    const { links } = await call("GET", `/v1/vals/${val.id}`)
    expect(links.endpoint).toBe(other.links.endpoint ?? "")
    expect(await ask(links.endpoint)).toBe(other.id)
    expect(await ask(named("coded"))).toBeUndefined()
    expect(await ask(ofVal(val.id))).toBeUndefined()
  })

  test("of mail stay with the first file of type email", async () => {
    const folder = await addFolder("inbox")
    const find = async (target: MailTarget) =>
      (await fixture.hamlet.stores.mails.findVal(target))?.file.id
    const byName = { kind: "name", username: "ada", name: "inbox" } as const
    const byVal = { kind: "id", id: folder.id } as const
    expect([await find(byName), await find(byVal)]).toEqual([undefined, undefined])
    const first = await folder.write("inbox.ts", "email")
    for (const [path, type] of [
      ["a.email.ts", "email"],
      ["main.tsx", "email"],
      ["index.ts", "http"],
    ] as const) {
      const other = await folder.write(path, type)
      expect([await find(byName), await find(byVal)]).toEqual([first.id, first.id])
      const own = type === "email" ? other.id : undefined
      expect(await find({ kind: "id", id: other.id })).toBe(own)
    }
    await folder.change("inbox.ts", { name: "moved.ts" })
    expect(await find(byName)).toBe(first.id)
    await folder.remove("moved.ts")
    expect([await find(byName), await find(byVal)]).toEqual([undefined, undefined])
  })

  test("of a fork are those of the copies of the files", async () => {
    const folder = await addFolder("origin")
    const api = await folder.write("api.http.ts", "http")
    await folder.write("main.tsx", "http")
    fixture.runner.serve("ada/copy", () => new Response("copy"))
    const fork = await call("POST", `/v1/vals/${folder.id}/fork`, {
      name: "copy",
      privacy: "public",
    })
    const copies = await openFiles(fork.id).list()
    const copy = copies.find(({ path }) => path === api.path)
    expect(await ask(named("copy"))).toBe(copy?.id)
    expect(await ask(named("origin"))).toBe(api.id)
  })

  test("are kept by random changes of files", async () => {
    const random = createRandom(testSeed)
    const pick = <Item>(items: readonly Item[]): Item =>
      items[Math.floor(random() * items.length)] as Item
    const paths = ["main.tsx", "index.ts", "api.http.ts", "lib/a.ts", "z.ts", "README.md"]
    const types = ["http", "script", "interval", "email", "file"]
    for (const name of ["kept", "coded_too"]) {
      const isCoded = name !== "kept"
      const folder = isCoded
        ? openFiles((await fixture.addVal(name, undefined, { type: pick(["http", "script"]) })).id)
        : await addFolder(name)
      const { id } = folder
      const files = `/v2/vals/${id}/files`
      const owners = new Map<string, string | undefined>(
        [named(name), ofVal(id)].map((address) => [address, undefined]),
      )
      const code = () => `export default ${Math.floor(random() * 1_000)}`
      const steps: readonly (() => Promise<unknown>)[] = [
        () => send("POST", `${files}?path=${pick(paths)}`, { type: pick(types), content: code() }),
        () => send("PUT", `${files}?path=${pick(paths)}`, { type: pick(types) }),
        () => send("PUT", `${files}?path=${pick(paths)}`, { name: pick(["main.tsx", "b.ts"]) }),
        () => send("DELETE", `${files}?path=${pick([...paths, "b.ts"])}`),
        () =>
          send("PUT", `/v1/vals/${id}`, { type: pick(["http", "script", "interval", "email"]) }),
        () => send("POST", `/v1/vals/${id}/versions`, { code: code() }),
        () => send("DELETE", `/v1/vals/${id}/versions/${Math.ceil(random() * 30)}`),
        () => send("POST", `/v1/vals/${id}/versions/${Math.ceil(random() * 30)}/restore`, {}),
        () =>
          send("POST", `/v1/vals/${id}/files`, {
            changes: [
              { path: pick(paths), delete: true },
              { path: pick(paths), type: pick(types), content: code() },
            ],
          }),
        async () => {
          const branch = await send("POST", `/v2/vals/${id}/branches`, { name: "trial" })
          if (!branch) return
          const on = `branch_id=${branch.id}`
          await send("POST", `${files}?path=${pick(paths)}&${on}`, {
            type: pick(types),
            content: code(),
          })
          await send("DELETE", `${files}?path=${pick(paths)}&${on}`)
          await send("POST", `/v1/vals/${id}/branches/${branch.id}/merge`, {})
          await send("DELETE", `/v2/vals/${id}/branches/${branch.id}`)
        },
      ]
      for (let step = 0; step < 60; step += 1) {
        await pick(steps)()
        for (const { id: fileId, links } of await folder.list())
          if (links.endpoint !== undefined) {
            for (const address of [links.endpoint, links.alias ?? links.endpoint])
              expect([address, owners.get(address) ?? fileId]).toEqual([address, fileId])
            owners.set(links.endpoint, fileId)
            expect([links.endpoint, await ask(links.endpoint)]).toEqual([links.endpoint, fileId])
          }
        for (const [address, owner] of owners) {
          const found = await ask(address)
          if (found === undefined) continue
          expect([address, found]).toEqual([address, owner ?? found])
          owners.set(address, found)
        }
      }
    }
  })
})
