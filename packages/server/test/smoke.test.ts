import { expect, test } from "bun:test"
import { expectStatus, openApi } from "./support/api.ts"
import { describeEachDatabase } from "./support/databases.ts"

describeEachDatabase("smoke", (open) => {
  test("a val is created, found and deleted", async () => {
    const api = await openApi(open)
    const ada = await api.addUser("ada")
    const created = expectStatus(await api.call("POST", "/v1/vals", { as: ada, body: { name: "hello", code: "1", privacy: "public" } }), 200)
    expect((await api.call("GET", "/v1/search/vals?query=hello")).json.data).toHaveLength(1)
    expectStatus(await api.call("GET", `/v1/vals/${created.json.id}`), 200)
    expectStatus(await api.call("GET", "/v/ada/hello"), 200)
    expectStatus(await api.call("DELETE", `/v1/vals/${created.json.id}`, { as: ada }), 204)
    expectStatus(await api.call("GET", `/v1/vals/${created.json.id}`), 404)
    expectStatus(await api.call("GET", "/nowhere"), 404)
    await api.close()
  })
})
