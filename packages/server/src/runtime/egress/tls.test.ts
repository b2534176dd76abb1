import { afterAll, afterEach, describe, expect, test } from "bun:test"
import { createAuthority } from "../../../test/support/certificates.ts"
import { waitUntil } from "../../../test/support/wait-until.ts"
import { here, Stage, type StageOptions } from "./testing/proxy-fixture.ts"
import { Outside, say } from "./testing/upstream-server.ts"

const authority = createAuthority()
const stranger = createAuthority()
afterAll(() => {
  authority[Symbol.dispose]()
  stranger[Symbol.dispose]()
})

let outside: Outside | undefined
let stage: Stage | undefined
afterEach(async () => {
  expect(stage?.errors ?? []).toEqual([])
  await stage?.stop()
  outside?.stop()
})

function open(
  tls: ConstructorParameters<typeof Outside>[1],
  options: StageOptions = {},
): { stage: Stage; outside: Outside } {
  outside = new Outside((socket) => socket.write(say("secure")), tls)
  stage = new Stage({ ca: authority.ca, ...options })
  return { stage, outside }
}

describe("a request over https", () => {
  test("goes out encrypted, to a server whose certificate is for its name", async () => {
    const { stage, outside } = open(authority.issue("good.test"))
    const client = await stage.get(`https://good.test:${outside.port}/x`)
    expect([client.status, client.body]).toEqual([200, "secure"])
    expect(outside.heard()).toBe(`GET /x HTTP/1.1\r\nhost: good.test:${outside.port}\r\n\r\n`)
    await stage.get(`https://good.test:${outside.port}/y`)
    expect(outside.sockets.length).toBe(1)
  })

  test("finds the certificate of a name with the dot of the root, and of an address", async () => {
    const { stage, outside } = open(authority.issue("good.test"))
    expect((await stage.get(`https://good.test.:${outside.port}/`)).status).toBe(200)
    await stage.stop()
    outside.stop()
    const other = open(authority.issue("127.0.0.1"))
    expect((await other.stage.get(`https://127.0.0.1:${other.outside.port}/`)).status).toBe(200)
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
    const { stage, outside } = open(issue[which](), {
      decide: () => ({ ...here, addresses: ["127.0.0.1", "127.0.0.2"] }),
    })
    using other = new Outside((socket) => socket.write(say("x")), authority.issue("good.test"), {
      hostname: "127.0.0.2",
      port: outside.port,
    })
    const client = await stage.get(`https://good.test:${outside.port}/secret`)
    expect([client.status, client.header("x-hamlet-blocked")]).toEqual([502, "1"])
    expect(client.body).toStartWith(
      `Cannot fetch "https://good.test:${outside.port}/secret": the certificate`,
    )
    expect(stage.sent[0]?.blocked).toMatch(reason)
    // Nothing was said, and the other address was not tried.
    expect([outside.heard(), other.sockets.length]).toEqual(["", 0])
    expect(stage.listener.sizes.upstreams).toBe(0)
  })

  test("is not sent in the clear to whoever does not speak TLS", async () => {
    const { stage, outside } = open(undefined)
    const client = await stage.get(`https://good.test:${outside.port}/secret`)
    expect([client.status, client.body]).toEqual([
      502,
      expect.stringContaining("no TLS connection to good.test"),
    ])
    expect(outside.heard()).not.toContain("secret")
  })

  test("trusts the usual authorities only, unless told otherwise", async () => {
    const { stage, outside } = open(authority.issue("good.test"), { ca: undefined })
    expect((await stage.get(`https://good.test:${outside.port}/`)).body).toContain(
      "unknown authority",
    )
  })

  test("does not use a connection in the clear, nor one to another name of the same address", async () => {
    const { stage, outside } = open(authority.issue("good.test"))
    await stage.get(`https://good.test:${outside.port}/`)
    expect((await stage.get(`https://evil.test:${outside.port}/`)).body).toContain("another host")
    expect((await stage.get(`http://good.test:${outside.port}/`)).status).not.toBe(200)
    expect(outside.sockets.filter(({ data }) => data.text !== "").length).toBe(1)
  })

  test("gives up on whoever takes the connection and says nothing", async () => {
    outside = new Outside(() => {})
    stage = new Stage({ limits: { connectMsMax: 30 } })
    const client = await stage.get(`https://good.test:${outside.port}/`)
    expect([client.status, client.body]).toEqual([
      504,
      expect.stringMatching(/: good\.test:\d+ does not respond$/),
    ])
    const { sockets } = outside
    await waitUntil(() => sockets.length === 1 && outside?.closed === 1)
    expect(stage.listener.sizes.upstreams).toBe(0)
  })

  test("is broken off by a val that does not wait for the connection", async () => {
    outside = new Outside(() => {})
    stage = new Stage()
    const client = await stage.connect()
    client.send(`GET https://good.test:${outside.port}/ HTTP/1.1\r\n\r\n`)
    const { sockets } = outside
    await waitUntil(() => sockets.length === 1)
    client.stop()
    await waitUntil(() => outside?.closed === 1)
    expect(stage.listener.sizes).toEqual({ clients: 0, upstreams: 0, requests: 0 })
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
