import { describe, expect, test } from "bun:test"
import type { HeaderList } from "@hamlet/http1"
import { depthHeader, depthMax } from "../../program/outgoing-request.ts"
import { decide, type RequestSender, type RoutePolicy } from "./decide.ts"
import type { HostDecision } from "./egress-policy.ts"
import { Refusal } from "./refusal.ts"
import { parseTarget, type Target } from "./target.ts"

const pass: HostDecision = { kind: "pass", addresses: ["192.0.2.1", "192.0.2.2"], isAllowed: false }

const policy: RoutePolicy = {
  own: {
    isApiHost: (host) => host === "hamlet.test",
    isProgramHost: (host) => host === "ada-hello.hamlet.test",
    fetchApi: () => Promise.reject(new Error("decide calls nothing")),
    address: () => ({ hostname: "127.0.0.1", port: 8080 }),
    addressHeader: "x-client-address",
  },
  hosts: {
    async checkHost({ hostname, ownerId }) {
      if (ownerId !== "ada") throw new Error("the lookup counts for the owner")
      if (hostname === "denied.test") return { kind: "blocked", reason: "denied" }
      return hostname === "allowed.test" ? { ...pass, isAllowed: true } : pass
    },
  },
  resolveRecords: () => Promise.reject(new Error("decide looks up no records")),
  privateDomains: [],
  ca: undefined,
  addressesMax: 3,
}

const sender: RequestSender = {
  ownerId: "ada",
  depth: 3,
  substitutions: [
    {
      placeholder: "hamlet-secret:KEY",
      value: "s3cret",
      hosts: ["a.test", "allowed.test", "hamlet.test", "ada-hello.hamlet.test"],
    },
  ],
}

interface Row {
  readonly title: string
  readonly url: string
  readonly policy?: Partial<Omit<RoutePolicy, "own">> & {
    readonly own?: Partial<RoutePolicy["own"]>
  }
  readonly sender?: Partial<RequestSender>
  readonly headers?: HeaderList
  /** A refusal is its status and its reason. */
  readonly route: object | readonly [status: number, reason: string]
}

const key: HeaderList = [["authorization", "Bearer hamlet-secret:KEY"]]
const replaced: HeaderList = [["authorization", "Bearer s3cret"]]
const depth4 = [depthHeader, "4"]
const tooDeep = `programs have called one another ${depthMax} times already`

const rows: readonly Row[] = [
  {
    title: "connects to the addresses that the policy has checked",
    url: "http://a.test/x",
    route: {
      kind: "connect",
      key: "http//a.test",
      addresses: ["192.0.2.1", "192.0.2.2"],
      port: 80,
      host: "a.test",
      tls: undefined,
      headers: [],
      warnings: [],
    },
  },
  {
    title: "connects to no more addresses than the limit",
    url: "http://a.test/",
    policy: { addressesMax: 1 },
    route: { addresses: ["192.0.2.1"] },
  },
  {
    title: "verifies the certificate for the name of the URL, without the dot at its end",
    url: "https://a.test.:8443/",
    policy: { ca: ["pem"] },
    route: {
      key: "https//a.test.:8443",
      port: 8443,
      tls: { serverName: "a.test", rejectUnauthorized: true, ca: ["pem"] },
    },
  },
  {
    title: "verifies the certificate for an IPv6 address without its brackets",
    url: "https://[2001:db8::1]/",
    route: { tls: { serverName: "2001:db8::1", rejectUnauthorized: true } },
  },
  {
    title: "does not share connections between http and https",
    url: "http://a.test:443/",
    route: { key: "http//a.test:443" },
  },
  {
    title: "refuses a host that the policy blocks",
    url: "http://denied.test/",
    route: [403, "denied"],
  },
  {
    title: "drops headers of the connection, of proxies and of this server",
    url: "http://a.test/",
    headers: [
      ["connection", "x-named"],
      ["x-named", "1"],
      ["host", "b.test"],
      ["proxy-authorization", "x"],
      ["x-hamlet-depth", "0"],
      ["x-client-address", "192.0.2.9"],
      ["accept", "*/*"],
    ],
    route: {
      headers: [
        ["x-client-address", "192.0.2.9"],
        ["accept", "*/*"],
      ],
    },
  },
  {
    title: "replaces placeholders over TLS",
    url: "https://a.test/",
    headers: key,
    route: { headers: replaced, warnings: [] },
  },
  {
    title: "replaces placeholders without TLS for a host that the operator has allowed",
    url: "http://allowed.test/",
    headers: key,
    route: { headers: replaced, warnings: [] },
  },
  {
    title: "keeps placeholders without TLS, and warns",
    url: "http://a.test/",
    headers: key,
    route: { headers: key, warnings: [expect.stringContaining("the request is not encrypted")] },
  },
  {
    title: "keeps placeholders of other hosts, without a warning",
    url: "https://b.test/",
    headers: key,
    route: { headers: key, warnings: [] },
  },
  {
    title: "calls the API in this process, one step deeper",
    url: "http://hamlet.test/v1/me",
    headers: [["x-client-address", "192.0.2.9"], ["x-hamlet-depth", "0"], ...key],
    route: { kind: "api", headers: [...replaced, depth4], warnings: [] },
  },
  {
    title: "connects to this server for a program, whatever the scheme",
    url: "https://ada-hello.hamlet.test/",
    headers: [["x-client-address", "192.0.2.9"], ...key],
    route: {
      kind: "connect",
      key: "own//ada-hello.hamlet.test",
      addresses: ["127.0.0.1"],
      port: 8080,
      tls: undefined,
      headers: [...replaced, depth4],
    },
  },
  {
    title: "refuses a program while this server does not listen",
    url: "http://ada-hello.hamlet.test/",
    policy: { own: { address: () => undefined } },
    route: [502, "this server does not listen yet"],
  },
  {
    title: "refuses the API at the end of a chain",
    url: "http://hamlet.test/",
    sender: { depth: depthMax },
    route: [508, tooDeep],
  },
  {
    title: "refuses a program at the end of a chain",
    url: "http://ada-hello.hamlet.test/",
    sender: { depth: depthMax },
    route: [508, tooDeep],
  },
  {
    title: "does not count the depth for other servers",
    url: "http://a.test/",
    sender: { depth: depthMax },
    route: { kind: "connect", headers: [] },
  },
  {
    title: "asks the policy about another port of this server",
    url: "http://hamlet.test:81/",
    policy: { hosts: { checkHost: async () => ({ kind: "blocked", reason: "asked" }) } },
    route: [403, "asked"],
  },
]

describe("decide", () => {
  test.each(rows.map((row) => [row.title, row] as const))("%s", async (_, row) => {
    const target = parseTarget(row.url) as Target
    const outcome = await decide(
      { ...policy, ...row.policy, own: { ...policy.own, ...row.policy?.own } },
      { ...sender, ...row.sender },
      { target, headers: row.headers ?? [] },
    )
    if (outcome instanceof Refusal)
      expect([outcome.status, outcome.reason]).toEqual(row.route as [])
    else expect(outcome).toMatchObject(row.route)
  })
})
