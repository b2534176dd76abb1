import { expect, test } from "bun:test"
import { expectStatus, openApi, type TestApi } from "../support/api.ts"
import { describeEachDatabase, type OpenDatabase } from "../support/databases.ts"

const rounds = 100

describeEachDatabase("a member who is removed while saving", (open) => {
  test(`saves nothing after the removal, on three nodes, ${rounds} times`, async () => {
    const database = await open()
    const shared: OpenDatabase = async () => ({ ...database, close: async () => {} })
    const nodes = [await openApi(shared), await openApi(shared), await openApi(shared)]
    const [first] = nodes as [TestApi, ...TestApi[]]
    const [owner, ada] = [await first.addUser("boss"), await first.addUser("worker")]
    const org = await first.call("POST", "/v1/orgs", { as: owner, body: { username: "acme" } })
    const { id: orgId } = expectStatus(org, 201).json
    const headers = { "hamlet-owner": orgId }
    const body = { name: "tool", code: "0", privacy: "private" }
    const val = await first.call("POST", "/v1/vals", { as: owner, headers, body })
    const { id } = expectStatus(val, 200).json
    const member = `/v1/orgs/${orgId}/members/${ada.id}`
    const readVersion = async () =>
      expectStatus(await first.call("GET", `/v1/vals/${id}`, { as: owner }), 200).json.version
    const outcomes = new Set<number>()
    for (let round = 0; round < rounds; round++) {
      expectStatus(await first.call("PUT", member, { as: owner, body: { role: "member" } }), 200)
      const accepting = `/v1/me/memberships/${orgId}/accept`
      expectStatus(await first.call("POST", accepting, { as: ada }), 204)
      const saves = Array.from({ length: 6 }, async (_, index) => {
        await Bun.sleep(index % 3)
        const node = nodes[index % nodes.length] as TestApi
        const code = `export default "${round} ${index}"`
        const path = `/v1/vals/${id}/versions`
        const { status } = await node.call("POST", path, { as: ada, body: { code } })
        outcomes.add(status)
      })
      await Bun.sleep(round % 5)
      expectStatus(await first.call("DELETE", member, { as: owner }), 204)
      const version = await readVersion()
      await Promise.all(saves)
      expect(await readVersion()).toBe(version)
    }
    // Some came before the removal, some after it.
    expect(outcomes).toContain(201)
    expect(outcomes.has(404) || outcomes.has(409)).toBe(true)
    for (const node of nodes.toReversed()) await node.close()
    await database.close()
  }, 120_000)
})
