import { afterAll, beforeAll, expect, test } from "bun:test"
import { asOwner } from "../../src/domain/access/rights.ts"
import { describeSqlite } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

describeSqlite("the address of a val", (open) => {
  let fixture: GatewayFixture
  beforeAll(async () => {
    fixture = await openGatewayFixture(open)
    await fixture.addVal("hello", () => new Response("hello"))
    await fixture.addVal("hidden", () => new Response("hidden"), { privacy: "private" })
    await fixture.addVal("unlisted", () => new Response("unlisted"), { privacy: "unlisted" })
    await fixture.addVal("script", () => new Response("script"), { type: "script" })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const asAda = () => ({ headers: { authorization: `Bearer ${fixture.ada.token}` } })
  const asBob = () => ({ headers: { authorization: `Bearer ${fixture.bob.token}` } })

  for (const host of [
    "ada-hello.localhost",
    "ADA-Hello.LocalHost",
    "ada-hello.localhost.",
    "ada-hello.localhost:1",
    "ada-hello.localhost.:80",
  ]) {
    test(`${host} is that of ada's hello`, async () => {
      const response = await fixture.request(host)
      expect([response.status, await response.text()]).toEqual([200, "hello"])
    })
  }

  test("a val also responds at the address with its id", async () => {
    const val = await fixture.hamlet.stores.vals.findByName("ada", "hello", asOwner(fixture.ada.id))
    const response = await fixture.request(`${val?.id.replaceAll("-", "")}.localhost`)
    expect(await response.text()).toBe("hello")
  })

  test("a val whose name is too long for a host name responds at the address with its id", async () => {
    const val = await fixture.addVal(`n${"0".repeat(47)}`, () => new Response("long"))
    expect(await (await fixture.request(`${val.id.replaceAll("-", "")}.localhost`)).text()).toBe(
      "long",
    )
  })

  test("the API responds at its own host", async () => {
    expect((await fixture.request(`localhost.:${fixture.port}`, "/healthz")).status).toBe(200)
    expect((await fixture.request(`127.0.0.1:${fixture.port}`, "/healthz")).status).toBe(200)
  })

  test("an unlisted val responds to every client", async () => {
    expect(await (await fixture.request("unlisted")).text()).toBe("unlisted")
  })

  test("a private val responds to its owner's token and does not receive it", async () => {
    const seen = fixture.runner.seen.length
    const response = await fixture.request("hidden", "/", asAda())
    expect([response.status, await response.text()]).toEqual([200, "hidden"])
    expect(fixture.runner.seen[seen]?.headers.has("authorization")).toBe(false)
  })

  test("a missing, private or non-http val and an invalid address get the same response", async () => {
    const hosts = [
      "ada-nothing",
      "nobody-hello",
      "ada-hidden",
      "ada-script",
      "ada",
      "-",
      "a-b-c",
      "x.ada-hello",
      `${"0".repeat(32)}`,
    ]
    for (const init of [
      {},
      asBob(),
      { headers: { authorization: "Bearer rubbish" } },
      { method: "POST", body: "x" },
    ]) {
      const responses = new Set<string>()
      for (const host of hosts) {
        const response = await fixture.request(`${host}.localhost`, "/x", init)
        const { date: _, ...headers } = response.headers.toJSON()
        responses.add(JSON.stringify([response.status, headers, await response.text()]))
      }
      expect(responses.size).toBe(1)
      expect([...responses][0]).toContain("404")
    }
  })

  test("in JSON these responses differ only in the request id", async () => {
    const bodies = new Set<string>()
    for (const host of ["ada-nothing", "ada-hidden", "ada-script"]) {
      const response = await fixture.request(`${host}.localhost`, "/", {
        headers: { accept: "application/json" },
      })
      const { requestId, ...rest } = (await response.json()) as { requestId: string }
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
      bodies.add(JSON.stringify(rest))
    }
    expect(bodies.size).toBe(1)
  })

  test("the owner of a script gets the reason: it is not an http val", async () => {
    const response = await fixture.request("script", "/", asAda())
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("not of type http"),
    ])
  })

  test("a token of the owner without val:read gives no access", async () => {
    const caller = {
      actorId: fixture.ada.id,
      actorName: "ada",
      ownerName: "ada",
      ...asOwner(fixture.ada.id),
      tokenId: "",
      scopes: new Set(["user:read"] as const),
    }
    const { text } = await fixture.hamlet.nouns.tokens.create(caller, {
      name: "narrow",
      scopes: ["user:read"],
      expiresAt: null,
    })
    expect(
      (await fixture.request("hidden", "/", { headers: { authorization: `Bearer ${text}` } }))
        .status,
    ).toBe(404)
  })

  test("a val that becomes private is not found by the next request of others", async () => {
    const val = await fixture.addVal("changing")
    expect((await fixture.request("changing")).status).toBe(200)
    await fixture.hamlet.stores.vals.change(val.id, { privacy: "private" }, () => {}, Date.now())
    expect((await fixture.request("changing")).status).toBe(404)
  })

  test("every response is a run on the owner's account", async () => {
    const response = await fixture.request("hello", "/path?q=1", asBob())
    const run = await fixture.runOf(response)
    expect(run).toMatchObject({
      status: "succeeded",
      source: "http",
      error: null,
      val: { name: "hello" },
    })
    expect(run.request).toEqual({
      method: "GET",
      url: `http://ada-hello.localhost:${fixture.port}/path?q=1`,
      status: 200,
    })
    expect(fixture.runner.taken.size).toBe(0)
  })

  test("another user's val with the same name is another val", async () => {
    const caller = {
      actorId: fixture.bob.id,
      actorName: "bob",
      ownerName: "bob",
      ...asOwner(fixture.bob.id),
      tokenId: "",
      scopes: new Set<never>(),
    }
    await fixture.hamlet.nouns.vals.create(caller, {
      name: "hello",
      code: "1",
      privacy: "public",
      type: "http",
    })
    fixture.runner.serve("bob/hello", () => new Response("bob's"))
    expect(await (await fixture.request("bob-hello.localhost")).text()).toBe("bob's")
  })
})
