import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { asOwner } from "../../src/domain/access/rights.ts"
import { createPreviews, openPass } from "../../src/domain/requests/preview-pass.ts"
import type { Cipher } from "../../src/domain/secrets/cipher.ts"
import { createCipher } from "../../src/domain/secrets/cipher.ts"
import type { Val } from "../../src/domain/vals/vals.ts"
import type { TestUser } from "../support/api.ts"
import { describeSqlite } from "../support/databases.ts"
import { type GatewayFixture, openGatewayFixture } from "./support/gateway-fixture.ts"

const digits = "abcdefghijklmnopqrstuvwxyz234567"

/** The 256 bits of a pass, written as the bits that they are. */
const toBits = (pass: string) =>
  Array.from(pass, (digit) => digits.indexOf(digit).toString(2).padStart(5, "0")).join("")
const fromBits = (bits: string) =>
  (bits.match(/.{5}/g) ?? []).map((five) => digits[Number.parseInt(five, 2)]).join("")

describeSqlite("createPreview", (open) => {
  let fixture: GatewayFixture

  /** The previews of the server with another clock or key. */
  function previewsWith({ now = Date.now, cipher }: PreviewChanges) {
    const { nouns, parts } = fixture.hamlet
    return createPreviews({
      calls: nouns.calls,
      cipher: cipher ?? parts.cipher,
      links: parts.links,
      clock: { now },
    })
  }
  let hidden: Val
  let other: Val
  beforeAll(async () => {
    fixture = await openGatewayFixture(open)
    hidden = await fixture.addVal(
      "hidden",
      (request) => new Response(`hidden at ${request.headers.get("host")}`),
      { privacy: "private" },
    )
    other = await fixture.addVal("other", () => new Response("other"), { privacy: "private" })
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  const ask = (val: Val, as: Pick<TestUser, "token"> = fixture.ada) =>
    fetch(`http://127.0.0.1:${fixture.port}/v1/vals/${val.id}/preview`, {
      method: "POST",
      headers: { authorization: `Bearer ${as.token}` },
    })
  const previewOf = async (val: Val, as?: Pick<TestUser, "token">) => {
    const response = await ask(val, as)
    expect(response.status).toBe(200)
    return (await response.json()) as { url: string; expiresAt: string | null }
  }
  const hostOf = async (val: Val) => new URL((await previewOf(val)).url).host
  const passOf = async (val: Val) => (await hostOf(val)).split(".")[0] ?? ""
  const codeOf = async (response: Response) => [
    response.status,
    ((await response.json()) as { code: string }).code,
  ]
  const hosted = (label: string) => `${label}.localhost:${fixture.port}`
  const caller = () => ({
    actorId: fixture.ada.id,
    actorName: "ada",
    ownerName: "ada",
    ...asOwner(fixture.ada.id),
    tokenId: "",
    scopes: new Set<never>(),
  })
  const pageAt = async (host: string) => {
    const response = await fixture.request(host, "/x")
    const { date: _, ...headers } = response.headers.toJSON()
    return JSON.stringify([response.status, headers, await response.text()])
  }

  test("is the normal address of a val that is not private", async () => {
    for (const privacy of ["public", "unlisted"] as const) {
      const val = await fixture.addVal(privacy, undefined, { privacy })
      const seen = { url: `http://ada-${privacy}.localhost:${fixture.port}`, expiresAt: null }
      expect([await previewOf(val), await previewOf(val, fixture.bob)]).toEqual([seen, seen])
    }
  })

  test("is a separate address for a private val, which needs no other credentials", async () => {
    const response = await ask(hidden)
    expect(response.headers.get("cache-control")).toBe("no-store")
    const { url, expiresAt } = (await response.json()) as { url: string; expiresAt: string }
    expect(url).toMatch(new RegExp(`^http://[a-z2-7]{52}\\.localhost:${fixture.port}$`))
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
    const { host } = new URL(url)
    const visit = await fixture.request(host)
    expect([visit.status, await visit.text()]).toEqual([200, `hidden at ${host}`])
    expect((await fixture.request(host.toUpperCase())).status).toBe(200)
  })

  test("is allowed to the owner only, for http vals only", async () => {
    expect(await codeOf(await ask(hidden, fixture.bob))).toEqual([404, "val_not_found"])
    expect(
      await codeOf(await ask(await fixture.addVal("script", undefined, { type: "script" }))),
    ).toEqual([409, "not_http"])
  })

  test("refuses a run token, and expires with a token that expires sooner", async () => {
    const ofRun = { token: fixture.hamlet.parts.accounts.runTokens.issue(fixture.ada) }
    expect(await codeOf(await ask(hidden, ofRun))).toEqual([403, "missing_scope"])
    expect((await previewOf(await fixture.addVal("open"), ofRun)).expiresAt).toBeNull()
    const expiresAt = (Math.floor(Date.now() / 1000) + 60) * 1000
    const { text: token } = await fixture.hamlet.nouns.tokens.issue(fixture.ada.id, {
      name: "short",
      scopes: ["val:read"],
      expiresAt,
    })
    expect((await previewOf(hidden, { token })).expiresAt).toBe(new Date(expiresAt).toISOString())
  })

  describe("an invalid pass gets the same response as a missing val", () => {
    const unknown = () => pageAt("ada-nothing.localhost")

    test("with any bit changed", async () => {
      const bits = toBits(await passOf(hidden))
      const expected = await unknown()
      // The four bits after the last are no part of it.
      for (let at = 0; at < 260; at++) {
        const forged = fromBits(
          `${bits.slice(0, at)}${bits[at] === "0" ? "1" : "0"}${bits.slice(at + 1)}`,
        )
        expect([at, await pageAt(hosted(forged))]).toEqual([at, expected])
      }
    })

    test("with the id of another val, the time of another pass or the signature of another", async () => {
      const [mine, others] = [toBits(await passOf(hidden)), toBits(await passOf(other))]
      const later = previewsWith({ now: () => Date.now() + 60_000 })
      const laterLabel =
        new URL((await later.create(caller(), hidden.id, {})).url).host.split(".")[0] ?? ""
      const expected = await unknown()
      const id = other.id.replaceAll("-", "")
      const idBits = (id.match(/../g) ?? [])
        .map((byte) => Number.parseInt(byte, 16).toString(2).padStart(8, "0"))
        .join("")
      expect(others.startsWith(idBits)).toBe(true)
      for (const forged of [
        idBits + mine.slice(128),
        mine.slice(0, 128) + toBits(laterLabel).slice(128, 160) + mine.slice(160),
        mine.slice(0, 160) + others.slice(160),
      ])
        expect(await pageAt(hosted(fromBits(forged)))).toBe(expected)
    })

    test("expired, made with another key, truncated, extended or for a missing val", async () => {
      const labelOf = async (more: PreviewChanges) =>
        new URL((await previewsWith(more).create(caller(), hidden.id, {})).url).hostname
      const pass = await passOf(hidden)
      const gone = await fixture.addVal("gone", undefined, { privacy: "private" })
      const ofGone = await hostOf(gone)
      await fixture.hamlet.stores.vals.delete(gone.id, () => {})
      const expected = await unknown()
      for (const host of [
        await labelOf({ now: () => Date.now() - 3_600_000 }),
        await labelOf({ cipher: createCipher([Buffer.alloc(32, 8)]) }),
        hosted(pass.slice(0, -1)),
        hosted(`${pass}a`),
        hosted(`x.${pass}`),
        hosted(`${pass}-hidden`),
        ofGone,
      ])
        expect([host, await pageAt(host)]).toEqual([host, expected])
    })
  })

  test("openPass accepts a pass until it expires, with the current key", async () => {
    const pass = await passOf(hidden)
    const [key, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 9)]
    const expiresAt = Number.parseInt(toBits(pass).slice(128, 160), 2) * 1000
    expect(openPass(createCipher([key]), pass, expiresAt - 1)).toBe(hidden.id)
    expect(openPass(createCipher([key]), pass, expiresAt)).toBeUndefined()
    expect(openPass(createCipher([newer, key]), pass, 0)).toBeUndefined()
  })

  test("gives access to that val only", async () => {
    const host = await hostOf(hidden)
    expect((await fixture.request("other")).status).toBe(404)
    // The API is not served there: every path goes to the val.
    for (const path of ["/v1/me", `/v1/vals/${hidden.id}`, "/healthz", "/"])
      expect(await (await fixture.request(host, path)).text()).toBe(`hidden at ${host}`)
    const asBearer = { headers: { authorization: `Bearer ${host.split(".")[0]}` } }
    expect((await fixture.request("hidden", "/", asBearer)).status).toBe(404)
    expect((await fixture.request(`127.0.0.1:${fixture.port}`, "/v1/me", asBearer)).status).toBe(
      401,
    )
  })

  test("stays valid when the val is renamed or made public, and ends when its type changes or it is deleted", async () => {
    const val = await fixture.addVal("fleeting", () => new Response("there"), {
      privacy: "private",
    })
    fixture.runner.serve("ada/renamed", () => new Response("there"))
    const host = await hostOf(val)
    const change = (more: Parameters<GatewayFixture["hamlet"]["stores"]["vals"]["change"]>[1]) =>
      fixture.hamlet.stores.vals.change(val.id, more, () => {}, Date.now())
    const status = async () => (await fixture.request(host)).status
    const seen = [await status()]
    await change({ name: "renamed" })
    seen.push(await status())
    await change({ privacy: "public" })
    seen.push(await status())
    await change({ privacy: "private" })
    seen.push(await status())
    await change({ type: "script" })
    seen.push(await status())
    await change({ type: "http" })
    seen.push(await status())
    await fixture.hamlet.stores.vals.delete(val.id, () => {})
    seen.push(await status())
    expect(seen).toEqual([200, 200, 200, 200, 404, 200, 404])
  })

  test("is not sent as a referrer unless the val allows it, and the val's other headers are kept", async () => {
    const framing = {
      "x-frame-options": "DENY",
      "content-security-policy": "frame-ancestors 'none'",
    }
    const quiet = await fixture.addVal("quiet", () => new Response("x", { headers: framing }), {
      privacy: "private",
    })
    const loud = await fixture.addVal(
      "loud",
      () => new Response("x", { headers: { "Referrer-Policy": "origin" } }),
      { privacy: "private" },
    )
    const answer = await fixture.request(await hostOf(quiet))
    expect(answer.headers.toJSON()).toMatchObject({ ...framing, "referrer-policy": "no-referrer" })
    expect((await fixture.request(await hostOf(loud))).headers.get("referrer-policy")).toBe(
      "origin",
    )
    const asAda = { headers: { authorization: `Bearer ${fixture.ada.token}` } }
    expect((await fixture.request("quiet", "/", asAda)).headers.get("referrer-policy")).toBeNull()
  })

  test("shows errors as for the owner, on a page that the web app can frame", async () => {
    const failure = () =>
      Response.json(
        { name: "RangeError", message: "too far" },
        { headers: { "x-hamlet-failure": "1" } },
      )
    const response = await fixture.request(
      await hostOf(await fixture.addVal("fails", failure, { privacy: "private" })),
    )
    expect([response.status, await response.text()]).toEqual([
      502,
      expect.stringContaining("too far"),
    ])
    expect(response.headers.toJSON()).toMatchObject({ "referrer-policy": "no-referrer" })
    expect(response.headers.get("content-security-policy")).not.toContain("frame-ancestors")
    expect(response.headers.has("x-frame-options")).toBe(false)
  })

  test("is not stored with the run", async () => {
    const host = await hostOf(hidden)
    const { request } = await fixture.runOf(await fixture.request(host, "/a?b=c"))
    expect(request).toEqual({
      method: "GET",
      url: `http://ada-hidden.localhost:${fixture.port}/a?b=c`,
      status: 200,
    })
  })

  test("takes precedence over a token, which the val does not receive", async () => {
    const host = await hostOf(hidden)
    for (const user of [fixture.ada, fixture.bob]) {
      const before = fixture.runner.seen.length
      expect(
        (await fixture.request(host, "/", { headers: { authorization: `Bearer ${user.token}` } }))
          .status,
      ).toBe(200)
      expect(fixture.runner.seen[before]?.headers.has("authorization")).toBe(false)
    }
  })

  test("opens WebSockets", async () => {
    const val = await fixture.addVal("chat", undefined, { privacy: "private" })
    fixture.runner.serve("ada/chat", () => new Response("no socket"), {
      message: (socket, text) => void socket.send(`echo ${text}`),
    })
    const hear = async (host: string) => {
      const socket = new WebSocket(`ws://127.0.0.1:${fixture.port}/`, {
        headers: { host },
      } as unknown as string[])
      const heard = new Promise<string>((resolve) => {
        socket.addEventListener("message", ({ data }) => resolve(String(data)))
        socket.addEventListener("close", () => resolve("closed"))
      })
      socket.addEventListener("open", () => socket.send("hello"))
      const said = await heard
      socket.close()
      return said
    }
    expect(await hear(await hostOf(val))).toBe("echo hello")
    expect(await hear(hosted("a".repeat(52)))).toBe("closed")
  })
})

interface PreviewChanges {
  readonly now?: () => number
  readonly cipher?: Cipher
}
