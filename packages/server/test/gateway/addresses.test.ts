import { afterAll, beforeAll, expect, test } from "bun:test"
import { createVal } from "../../src/domain/vals/vals.ts"
import { describeEachDatabase } from "../support/databases.ts"
import { type GatewayStage, openGatewayStage } from "./support/gateway-stage.ts"

describeEachDatabase("the address of a val", (open) => {
  let stage: GatewayStage
  beforeAll(async () => {
    stage = await openGatewayStage(open)
    await stage.addVal("hello", () => new Response("hello"))
    await stage.addVal("hidden", () => new Response("hidden"), { privacy: "private" })
    await stage.addVal("unlisted", () => new Response("unlisted"), { privacy: "unlisted" })
    await stage.addVal("script", () => new Response("script"), { type: "script" })
  })
  afterAll(() => stage[Symbol.asyncDispose]())

  const asAda = () => ({ headers: { authorization: `Bearer ${stage.ada.token}` } })
  const asBob = () => ({ headers: { authorization: `Bearer ${stage.bob.token}` } })

  for (const host of [
    "ada-hello.localhost",
    "ADA-Hello.LocalHost",
    "ada-hello.localhost.",
    "ada-hello.localhost:1",
    "ada-hello.localhost.:80",
  ]) {
    test(`${host} is that of ada's hello`, async () => {
      const response = await stage.visit(host)
      expect([response.status, await response.text()]).toEqual([200, "hello"])
    })
  }

  test("a val answers under its id, too", async () => {
    const val = await stage.hamlet.deps.vals.findByName("ada", "hello", stage.ada.id)
    const response = await stage.visit(`${val?.id.replaceAll("-", "")}.localhost`)
    expect(await response.text()).toBe("hello")
  })

  test("a val whose name is too long for a host answers under its id", async () => {
    const val = await stage.addVal(`n${"0".repeat(47)}`, () => new Response("long"))
    expect(await (await stage.visit(`${val.id.replaceAll("-", "")}.localhost`)).text()).toBe("long")
  })

  test("the API keeps its own host", async () => {
    expect((await stage.visit(`localhost.:${stage.port}`, "/healthz")).status).toBe(200)
    expect((await stage.visit(`127.0.0.1:${stage.port}`, "/healthz")).status).toBe(200)
  })

  test("an unlisted val answers everybody", async () => {
    expect(await (await stage.visit("unlisted")).text()).toBe("unlisted")
  })

  test("a private val answers its owner's token and does not see it", async () => {
    const seen = stage.runner.seen.length
    const response = await stage.visit("hidden", "/", asAda())
    expect([response.status, await response.text()]).toEqual([200, "hidden"])
    expect(stage.runner.seen[seen]?.headers.has("authorization")).toBe(false)
  })

  test("what is not there, private, not of type http or no address at all looks the same to everybody else", async () => {
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
      const answers = new Set<string>()
      for (const host of hosts) {
        const response = await stage.visit(`${host}.localhost`, "/x", init)
        const { date: _, ...headers } = response.headers.toJSON()
        answers.add(JSON.stringify([response.status, headers, await response.text()]))
      }
      expect(answers.size).toBe(1)
      expect([...answers][0]).toContain("404")
    }
  })

  test("as JSON they differ in nothing but the id of the request", async () => {
    const bodies = new Set<string>()
    for (const host of ["ada-nothing", "ada-hidden", "ada-script"]) {
      const response = await stage.visit(`${host}.localhost`, "/", {
        headers: { accept: "application/json" },
      })
      const { requestId, ...rest } = (await response.json()) as { requestId: string }
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
      bodies.add(JSON.stringify(rest))
    }
    expect(bodies.size).toBe(1)
  })

  test("the owner of a script learns that it is no val for the web", async () => {
    const response = await stage.visit("script", "/", asAda())
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("not of type http"),
    ])
  })

  test("a token of the owner without val:read opens nothing", async () => {
    const caller = {
      userId: stage.ada.id,
      username: "ada",
      tokenId: "",
      scopes: new Set(["user:read"] as const),
    }
    const { createToken } = await import("../../src/domain/accounts/tokens.ts")
    const { text } = await createToken(stage.hamlet.deps, caller, {
      name: "narrow",
      scopes: ["user:read"],
      expiresAt: null,
    })
    expect(
      (await stage.visit("hidden", "/", { headers: { authorization: `Bearer ${text}` } })).status,
    ).toBe(404)
  })

  test("a val that becomes private is gone for others with the next request", async () => {
    const val = await stage.addVal("changing")
    expect((await stage.visit("changing")).status).toBe(200)
    await stage.hamlet.deps.vals.change(val.id, { privacy: "private" }, () => {}, Date.now())
    expect((await stage.visit("changing")).status).toBe(404)
  })

  test("every answer is a run on the owner's account", async () => {
    const response = await stage.visit("hello", "/path?q=1", asBob())
    const run = await stage.runOf(response)
    expect(run).toMatchObject({
      status: "succeeded",
      source: "http",
      error: null,
      val: { name: "hello" },
    })
    expect(run.request).toEqual({
      method: "GET",
      url: `http://ada-hello.localhost:${stage.port}/path?q=1`,
      status: 200,
    })
    expect(stage.runner.taken.size).toBe(0)
  })

  test("a val of the same name of somebody else is another val", async () => {
    const caller = { userId: stage.bob.id, username: "bob", tokenId: "", scopes: new Set<never>() }
    await createVal(stage.hamlet.deps, caller, {
      name: "hello",
      code: "1",
      privacy: "public",
      type: "http",
    })
    stage.runner.serve("bob/hello", () => new Response("bob's"))
    expect(await (await stage.visit("bob-hello.localhost")).text()).toBe("bob's")
  })
})
