import { afterAll, beforeAll, expect, test } from "bun:test"
import { describeEachDatabase } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

interface FileView {
  readonly id: string
  readonly links: { readonly endpoint?: string }
}

describeEachDatabase("the addresses of files", (open) => {
  let fixture: GatewayFixture
  beforeAll(async () => {
    fixture = await openGatewayFixture(open)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const asAda = () => ({ headers: { authorization: `Bearer ${fixture.ada.token}` } })

  /** Calls the API as ada. */
  async function call(method: string, path: string, body?: object) {
    const { headers } = asAda()
    const response = await fixture.request(`127.0.0.1:${fixture.port}`, path, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }

  /** A val with an entry file, an http file beside it and a branch. */
  async function addFolder(name: string, privacy: "public" | "private" = "public") {
    const val = await fixture.addVal(name, () => new Response(name), { privacy })
    const path = `/v2/vals/${val.id}/files`
    const body = { type: "http", content: "export default 2" }
    const side: FileView = await call("POST", `${path}?path=side.ts`, body)
    const branch: { id: string } = await call("POST", `/v2/vals/${val.id}/branches`, {
      name: "trial",
    })
    const list = async (branchId: string): Promise<readonly FileView[]> =>
      (await call("GET", `${path}?path=&branch_id=${branchId}`)).data
    return { val, path, side, branch, list }
  }

  const hostOf = ({ links }: FileView) => new URL(links.endpoint ?? "").host
  const labelOf = (id: string) => `${id.replaceAll("-", "")}.localhost:${fixture.port}`
  const statusOf = async (host: string, init: RequestInit = {}) => {
    const response = await fixture.request(host, "/", init)
    await response.text()
    return response.status
  }

  test("start each http file of each branch, and runs say which", async () => {
    const { val, side, branch, list } = await addFolder("many")
    const files = [...(await list(val.id)), ...(await list(branch.id))]
    expect(files).toHaveLength(4)
    expect(new Set(files.map(hostOf)).size).toBe(4)
    const seen: unknown[] = []
    for (const file of files) {
      const response = await fixture.request(hostOf(file), "/x")
      expect([response.status, await response.text()]).toEqual([200, "many"])
      const run = await fixture.runOf(response)
      expect(run).toMatchObject({ source: "http", val: { id: val.id } })
      expect(run.request?.url).toBe(`${file.links.endpoint}/x`)
      seen.push([run.file?.id, run.file?.path, run.branch?.id, run.val.version])
    }
    expect(seen).toEqual([
      [val.id, "main.tsx", val.id, 2],
      [side.id, "side.ts", val.id, 2],
      [files[2]?.id, "main.tsx", branch.id, 0],
      [files[3]?.id, "side.ts", branch.id, 0],
    ])
  })

  test("start what a file is now", async () => {
    const { side, path } = await addFolder("changed")
    const runNow = async () => {
      const { file, val } = await fixture.runOf(await fixture.request(hostOf(side)))
      return [file?.id, file?.path, val.version]
    }
    expect(await runNow()).toEqual([side.id, "side.ts", 2])
    await call("PUT", `${path}?path=side.ts`, { content: "export default 3" })
    expect(await runNow()).toEqual([side.id, "side.ts", 3])
    await call("PUT", `${path}?path=side.ts`, { name: "moved.ts" })
    expect(await runNow()).toEqual([side.id, "moved.ts", 4])
  })

  test("are those of previews and of requests through the API", async () => {
    for (const privacy of ["public", "private"] as const) {
      const { val, side, branch, list } = await addFolder(`seen${privacy}`, privacy)
      const [, other] = (await list(branch.id)) as [FileView, FileView]
      for (const [query, file] of [
        [{ file: "side.ts" }, side],
        [{ file: "side.ts", branch: "trial" }, other],
      ] as const) {
        const preview = `/v1/vals/${val.id}/preview?${new URLSearchParams(query)}`
        const { url, expiresAt } = await call("POST", preview)
        if (privacy === "public") expect([url, expiresAt]).toEqual([file.links.endpoint, null])
        else expect(new URL(url).host).toMatch(/^[a-z2-7]{52}\./)
        const run = await fixture.runOf(await fixture.request(new URL(url).host))
        expect([run.file?.id, run.branch?.name]).toEqual([file.id, query.branch ?? "main"])
        const sent = { method: "GET", path: "/x", ...query }
        const { status, runId } = await call("POST", `/v1/vals/${val.id}/requests`, sent)
        expect(status).toBe(200)
        const asked = await call("GET", `/v1/runs/${runId}`)
        expect([asked.file.id, asked.branch.id]).toEqual([file.id, run.branch?.id])
      }
    }
  })

  test("have previews only if they are of type http", async () => {
    const { val, path } = await addFolder("plain", "private")
    await call("PUT", `${path}?path=side.ts`, { type: "script" })
    await call("POST", `${path}?path=notes.md`, { type: "file", content: "text" })
    for (const [query, code] of [
      ["file=side.ts", "not_http"],
      ["file=none.ts", "file_not_found"],
      ["file=notes.md", "not_code"],
      ["branch=none", "branch_not_found"],
      [`file=${"x".repeat(9_000)}`, "invalid_request"],
    ])
      await expect(call("POST", `/v1/vals/${val.id}/preview?${query}`)).rejects.toThrow(code)
  })

  test("respond only for http files that exist", async () => {
    const { side, path, val, branch, list } = await addFolder("gone")
    const [, other] = (await list(branch.id)) as [FileView, FileView]
    expect(await statusOf(hostOf(other))).toBe(200)
    await call("DELETE", `/v2/vals/${val.id}/branches/${branch.id}`)
    expect(await statusOf(hostOf(other))).toBe(404)
    await call("PUT", `${path}?path=side.ts`, { type: "script" })
    expect(await statusOf(hostOf(side))).toBe(404)
    const response = await fixture.request(hostOf(side), "/", asAda())
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("not of type http"),
    ])
    await call("PUT", `${path}?path=side.ts`, { type: "http" })
    expect(await statusOf(hostOf(side))).toBe(200)
    await call("DELETE", `${path}?path=side.ts`)
    expect(await statusOf(hostOf(side))).toBe(404)
    expect(await statusOf(hostOf(side), asAda())).toBe(404)
    const folder: FileView = await call("POST", `${path}?path=lib`, { type: "directory" })
    expect(await statusOf(labelOf(folder.id))).toBe(404)
    const text = { type: "file", content: "text" }
    const readme: FileView = await call("POST", `${path}?path=notes.txt`, text)
    expect(await statusOf(labelOf(readme.id), asAda())).toBe(404)
  })

  test("of a private val respond to its owner only", async () => {
    const { val, side, branch, list } = await addFolder("closed", "private")
    for (const file of [side, ...(await list(branch.id))]) {
      expect(await statusOf(hostOf(file))).toBe(404)
      const asBob = { headers: { authorization: `Bearer ${fixture.bob.token}` } }
      expect(await statusOf(hostOf(file), asBob)).toBe(404)
      expect(await statusOf(hostOf(file), asAda())).toBe(200)
    }
    await call("PUT", `/v1/vals/${val.id}`, { privacy: "public" })
    expect(await statusOf(hostOf(side))).toBe(200)
  })
})
