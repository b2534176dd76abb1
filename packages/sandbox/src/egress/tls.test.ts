import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { toResponse, UpstreamServer } from "@hamlet/http1/testing"
import { createAuthority, waitUntil } from "@hamlet/kit/testing"
import { loopback, ProxyFixture, type ProxyFixtureOptions } from "./testing/proxy-fixture.ts"

const authority = createAuthority()
const stranger = createAuthority()
afterAll(() => {
  authority[Symbol.dispose]()
  stranger[Symbol.dispose]()
})

let upstream: UpstreamServer | undefined
let fixture: ProxyFixture | undefined
afterEach(async () => {
  expect(fixture?.errors ?? []).toEqual([])
  await fixture?.stop()
  upstream?.stop()
})

function open(
  tls: ConstructorParameters<typeof UpstreamServer>[1],
  options: ProxyFixtureOptions = {},
): { fixture: ProxyFixture; upstream: UpstreamServer } {
  upstream = new UpstreamServer((socket) => socket.write(toResponse("secure")), tls)
  fixture = new ProxyFixture({ ca: authority.ca, ...options })
  return { fixture, upstream }
}

describe("ProxiedRequest over https", () => {
  test("connects to a server with a certificate for its name", async () => {
    const { fixture, upstream } = open(authority.issue("good.test"))
    const client = await fixture.get(`https://good.test:${upstream.port}/x`)
    expect([client.status, client.body]).toEqual([200, "secure"])
    expect(upstream.received()).toBe(`GET /x HTTP/1.1\r\nhost: good.test:${upstream.port}\r\n\r\n`)
    await fixture.get(`https://good.test:${upstream.port}/y`)
    expect(upstream.sockets.length).toBe(1)
  })

  test("verifies the certificate of a name with a dot at its end, and of an address", async () => {
    const { fixture, upstream } = open(authority.issue("good.test"))
    expect((await fixture.get(`https://good.test.:${upstream.port}/`)).status).toBe(200)
    await fixture.stop()
    upstream.stop()
    const other = open(authority.issue("127.0.0.1"))
    expect((await other.fixture.get(`https://127.0.0.1:${other.upstream.port}/`)).status).toBe(200)
  })

  const issue = {
    expired: () => authority.issue("good.test", -1),
    wrong: () => authority.issue("other.test"),
    unknown: () => stranger.issue("good.test"),
    selfSigned: () => createSelfSigned("good.test"),
  }
  test.each([
    ["has expired", "expired", /^the certificate of good\.test:\d+ has expired$/],
    ["is for another host", "wrong", /^the certificate is for another host than good\.test:\d+$/],
    [
      "is from an unknown authority",
      "unknown",
      /^the certificate of good\.test:\d+ is from an unknown authority$/,
    ],
    ["is self-signed", "selfSigned", /^the certificate of good\.test:\d+ is self-signed$/],
  ] as const)("is not sent where the certificate %s", async (_, which, reason) => {
    const { fixture, upstream } = open(issue[which](), {
      decide: () => ({ ...loopback, addresses: ["127.0.0.1", "127.0.0.2"] }),
    })
    using other = new UpstreamServer(
      (socket) => socket.write(toResponse("x")),
      authority.issue("good.test"),
      {
        hostname: "127.0.0.2",
        port: upstream.port,
      },
    )
    const client = await fixture.get(`https://good.test:${upstream.port}/secret`)
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([502, "1"])
    expect(client.body).toStartWith(
      `Cannot fetch "https://good.test:${upstream.port}/secret": the certificate`,
    )
    expect(fixture.sent[0]?.blocked).toMatch(reason)
    // Nothing was said, and the other address was not tried.
    expect([upstream.received(), other.sockets.length]).toEqual(["", 0])
    expect(fixture.listener.sizes.upstreams).toBe(0)
  })

  test("is not sent to a server without TLS", async () => {
    const { fixture, upstream } = open(undefined)
    const client = await fixture.get(`https://good.test:${upstream.port}/secret`)
    expect([client.status, client.body]).toEqual([
      502,
      expect.stringContaining("no TLS connection to good.test"),
    ])
    expect(upstream.received()).not.toContain("secret")
  })

  test("trusts the default authorities and those of the option", async () => {
    const { fixture, upstream } = open(authority.issue("good.test"), { ca: undefined })
    expect((await fixture.get(`https://good.test:${upstream.port}/`)).body).toContain(
      "unknown authority",
    )
  })

  test("does not reuse a connection without TLS, or to another name of the same address", async () => {
    const { fixture, upstream } = open(authority.issue("good.test"))
    await fixture.get(`https://good.test:${upstream.port}/`)
    expect((await fixture.get(`https://evil.test:${upstream.port}/`)).body).toContain(
      "another host",
    )
    expect((await fixture.get(`http://good.test:${upstream.port}/`)).status).not.toBe(200)
    expect(upstream.sockets.filter(({ data }) => data.text !== "").length).toBe(1)
  })

  test("ends when the handshake takes too long", async () => {
    upstream = new UpstreamServer(() => {})
    fixture = new ProxyFixture({ limits: { connectMsMax: 30 } })
    const client = await fixture.get(`https://good.test:${upstream.port}/`)
    expect([client.status, client.body]).toEqual([
      504,
      expect.stringMatching(/: good\.test:\d+ does not respond$/),
    ])
    const { sockets } = upstream
    await waitUntil(() => sockets.length === 1 && upstream?.closed === 1)
    expect(fixture.listener.sizes.upstreams).toBe(0)
  })

  test("is cancelled by a program while it connects", async () => {
    upstream = new UpstreamServer(() => {})
    fixture = new ProxyFixture()
    const client = await fixture.connect()
    client.send(`GET https://good.test:${upstream.port}/ HTTP/1.1\r\n\r\n`)
    const { sockets } = upstream
    await waitUntil(() => sockets.length === 1)
    client.stop()
    await waitUntil(() => upstream?.closed === 1)
    expect(fixture.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
  })
})

function createSelfSigned(host: string): { readonly cert: string; readonly key: string } {
  const key = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    "-",
  ]
  const { stdout } = Bun.spawnSync([
    "openssl",
    "req",
    "-x509",
    ...key,
    "-subj",
    `/CN=${host}`,
    "-addext",
    `subjectAltName=DNS:${host}`,
  ])
  const text = stdout.toString()
  const part = (name: string) =>
    new RegExp(`-----BEGIN ${name}-----[^]*?-----END ${name}-----\n`).exec(text)?.[0] ?? ""
  return { cert: part("CERTIFICATE"), key: part("PRIVATE KEY") }
}
