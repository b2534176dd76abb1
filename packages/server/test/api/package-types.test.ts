import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { PackageTypes } from "@hamlet/npm"
import { compressArchive, packFiles } from "@hamlet/sandbox"
import { expectStatus, openApi, type TestApi, type TestUser } from "../support/api.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { FakeResolver } from "../support/fakes/fake-resolver.ts"
import type { ValView } from "./suite.ts"

const types: PackageTypes = {
  files: [
    { path: "zod@1.0.0/node_modules/zod/index.d.ts", text: "export declare const z: 1 // ü" },
  ],
  links: [
    { path: "imports/zod@1.0.0/node_modules/zod", target: "../../../zod@1.0.0/node_modules/zod" },
  ],
}

/** Has types for every package. */
class TypedResolver extends FakeResolver {
  override async resolve(request: Parameters<FakeResolver["resolve"]>[0]) {
    const resolved = await super.resolve(request)
    const contents = types.files.map(({ text }) => Buffer.from(text))
    const list = {
      files: types.files.map(({ path }, index) => [path, contents[index]?.length ?? 0] as const),
      links: types.links.map(({ path, target }) => [path, target] as const),
    }
    const archive = await compressArchive(packFiles(list, Buffer.concat(contents)) ?? Buffer.of())
    const bundle = resolved.bundle && { ...resolved.bundle, types: { read: async () => archive } }
    return { ...resolved, bundle }
  }
}

describeEachDatabase("the types of a version", (open) => {
  const resolver = new TypedResolver()
  let api: TestApi
  let ada: TestUser
  let bob: TestUser

  beforeAll(async () => {
    resolver.add("npm:zod", 1)
    api = await openApi(open, {}, { resolver })
    ada = await api.addUser("ada")
    bob = await api.addUser("bob")
  })
  afterAll(() => api.close())

  let names = 0
  async function save(privacy: string, code = 'import "npm:zod"'): Promise<ValView> {
    names += 1
    const body = { name: `v${names}`, code, privacy }
    return expectStatus(await api.call("PUT", "/v1/vals", { as: ada, body }), 200).json
  }
  const pathOf = ({ id }: ValView, version = 1) => `/v1/vals/${id}/versions/${version}/types`
  async function whenReady(val: ValView) {
    await waitUntil(async () => (await get(val)).json.state === "ready")
  }
  const get = (val: ValView, as: TestUser | undefined = ada) =>
    api.call("GET", pathOf(val), as ? { as } : {})

  describe("getVersionTypes", () => {
    test("has the declarations once the lockfile is settled", async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      resolver.gate = promise
      const val = await save("public")
      expect((await get(val)).json).toMatchObject({ state: "pending", files: [], links: [] })
      resolve()
      resolver.gate = undefined
      await whenReady(val)
      expect((await get(val)).json).toEqual({
        state: "ready",
        imports: [{ specifier: "npm:zod", resolved: "npm:zod@1.0.0" }],
        ...types,
      })
    })

    test("is empty for code without packages", async () => {
      const found = (await get(await save("public", "export default 1"))).json
      expect(found).toEqual({ state: "none", imports: [], files: [], links: [] })
    })

    test("is visible to those who may see the code, and to no others", async () => {
      for (const [privacy, status] of [
        ["public", 200],
        ["unlisted", 200],
        ["private", 404],
      ] as const) {
        const val = await save(privacy)
        await whenReady(val)
        for (const other of [bob, undefined])
          expect((await api.call("GET", pathOf(val), other ? { as: other } : {})).status).toBe(
            status,
          )
      }
      expect((await api.call("GET", pathOf(await save("public"), 9))).status).toBe(404)
    })

    test("is compressed, and sent once to a client that keeps it", async () => {
      const val = await save("public")
      await whenReady(val)
      const headers = { "accept-encoding": "gzip" }
      const first = await api.hamlet.app.request(`http://hamlet.test${pathOf(val)}`, { headers })
      expect(first.headers.get("content-encoding")).toBe("gzip")
      const text = new TextDecoder().decode(Bun.gunzipSync(await first.arrayBuffer()))
      expect(JSON.parse(text)).toMatchObject(types)
      const etag = first.headers.get("etag") ?? ""
      const again = await api.call("GET", pathOf(val), { headers: { "if-none-match": etag } })
      expect(again.status).toBe(304)
    })

    test("goes with a fork", async () => {
      const val = await save("public")
      await whenReady(val)
      const path = `/v1/vals/${val.id}/fork`
      const fork = expectStatus(await api.call("POST", path, { as: bob, body: {} }), 201).json
      expect((await get(fork, bob)).json).toMatchObject({ state: "ready", ...types })
    })
  })
})
