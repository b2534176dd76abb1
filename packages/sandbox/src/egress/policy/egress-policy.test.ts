import { describe, expect, test } from "bun:test"
import { Refused } from "@hamlet/kit"
import fc from "fast-check"
import { createEgressPolicy, type EgressPolicyOptions, type HostDecision } from "./egress-policy.ts"

const names: Readonly<Record<string, readonly string[]>> = {
  "public.example": ["93.184.216.34", "2606:4700::1111"],
  "private.example": ["10.0.0.5"],
  "loopback.example": ["127.0.0.1"],
  "mixed.example": ["93.184.216.34", "10.0.0.5"],
  "mixed-last.example": [
    ...Array.from({ length: 40 }, (_, index) => `93.184.216.${index}`),
    "10.0.0.5",
  ],
  "many.example": Array.from({ length: 40 }, (_, index) => `93.184.216.${index}`),
  "mapped.example": ["::ffff:10.0.0.5"],
  "mapped-public.example": ["::ffff:93.184.216.34"],
  "nat64.example": ["64:ff9b::10.0.0.5"],
  "nat64-public.example": ["64:ff9b::93.184.216.34"],
  "metadata.example": ["169.254.169.254"],
  "zone.example": ["fe80::1%eth0"],
  "odd.example": ["not an address"],
  "two-private.example": ["10.0.0.5", "10.0.0.6"],
  "empty.example": [],
  intranet: ["10.0.0.7"],
  "own.example": ["203.0.114.5"],
  "own-six.example": ["2606:4700::5"],
  "own-mapped.example": ["::ffff:203.0.114.5"],
  "own-nat64.example": ["64:ff9b::203.0.114.5"],
  "own-mixed.example": ["93.184.216.34", "203.0.114.5"],
  // A resolver that lies about names that mean this machine.
  localhost: ["93.184.216.34"],
  "a.localhost": ["93.184.216.34"],
}

const own = new Set(["127.0.0.1", "::1", "10.0.0.4", "203.0.114.5", "2606:4700::5"])

/** Settings, a host, a port, and what comes of it: the addresses or the reason. */
type Row = readonly [
  settings: Partial<EgressPolicyOptions>,
  host: string,
  port: number,
  outcome: readonly string[] | string,
]

const none = {}
const denied = "the operator of this server has denied it"
const closed = (port: number) => `port ${port} is not among those that programs may reach`
const isPrivate = (name: string) => `${name} resolves to a private address`
const isLocal = (name: string) => `${name} is the machine on which the server runs`
const ownMachine = "an address of the machine on which the server runs"
const both = ["93.184.216.34", "2606:4700::1111"]

const table: readonly Row[] = [
  [none, "public.example", 443, both],
  [none, "PUBLIC.example.", 443, both],
  [none, "93.184.216.34", 443, ["93.184.216.34"]],
  [none, "[2606:4700::1111]", 443, ["2606:4700::1111"]],
  [none, "mapped-public.example", 443, ["93.184.216.34"]],
  [none, "nat64-public.example", 443, ["64:ff9b::5db8:d822"]],
  [none, "10.0.0.1", 80, "10.0.0.1 is a private address"],
  [none, "0xa000001", 80, "10.0.0.1 is a private address"],
  [none, "127.0.0.1", 80, "127.0.0.1 is a loopback address"],
  [none, "[::1]", 80, "::1 is a loopback address"],
  [none, "[::ffff:10.0.0.1]", 80, "10.0.0.1 is a private address"],
  [none, "169.254.169.254", 80, "169.254.169.254 is a link-local address"],
  [none, "private.example", 80, isPrivate("private.example")],
  [none, "loopback.example", 80, isPrivate("loopback.example")],
  [none, "metadata.example", 80, isPrivate("metadata.example")],
  [none, "mixed.example", 80, isPrivate("mixed.example")],
  [none, "mixed-last.example", 80, isPrivate("mixed-last.example")],
  [none, "mapped.example", 80, isPrivate("mapped.example")],
  [none, "nat64.example", 80, isPrivate("nat64.example")],
  [none, "zone.example", 80, isPrivate("zone.example")],
  [none, "odd.example", 80, isPrivate("odd.example")],
  [none, "intranet", 80, isPrivate("intranet")],
  [none, "missing.example", 80, "missing.example cannot be found"],
  [none, "empty.example", 80, "empty.example cannot be found"],
  [none, "localhost", 80, isLocal("localhost")],
  [none, "LOCALHOST.", 80, isLocal("localhost")],
  [none, "a.localhost", 80, isLocal("a.localhost")],
  [none, "", 80, "its host is neither a name nor an address"],
  [none, "[fe80::1%25eth0]", 80, "its host is neither a name nor an address"],
  [none, "a".repeat(300), 80, "its host is neither a name nor an address"],

  // What is public, and this very machine.
  [none, "203.0.114.5", 80, `203.0.114.5 is ${ownMachine}`],
  [none, "0xcb007205", 80, `203.0.114.5 is ${ownMachine}`],
  [none, "203.0.114.6", 80, ["203.0.114.6"]],
  [none, "[2606:4700::5]", 80, `2606:4700::5 is ${ownMachine}`],
  [none, "[2606:4700:0:0::0005]", 80, `2606:4700::5 is ${ownMachine}`],
  [none, "[::ffff:203.0.114.5]", 80, `203.0.114.5 is ${ownMachine}`],
  [none, "[64:ff9b::203.0.114.5]", 80, `64:ff9b::cb00:7205 is ${ownMachine}`],
  [none, "own.example", 80, `own.example resolves to ${ownMachine}`],
  [none, "own-six.example", 80, `own-six.example resolves to ${ownMachine}`],
  [none, "own-mapped.example", 80, `own-mapped.example resolves to ${ownMachine}`],
  [none, "own-nat64.example", 80, `own-nat64.example resolves to ${ownMachine}`],
  [none, "own-mixed.example", 80, `own-mixed.example resolves to ${ownMachine}`],
  [{ allow: ["203.0.114.5:8080"] }, "203.0.114.5", 8080, ["203.0.114.5"]],
  [{ allow: ["203.0.114.5:8080"] }, "203.0.114.5", 8081, `203.0.114.5 is ${ownMachine}`],
  [{ allow: ["own.example"] }, "own.example", 80, ["203.0.114.5"]],
  [{ allow: ["own.example"] }, "203.0.114.5", 80, `203.0.114.5 is ${ownMachine}`],
  [
    { allow: ["203.0.114.5"] },
    "own-nat64.example",
    80,
    `own-nat64.example resolves to ${ownMachine}`,
  ],

  // Ports.
  [none, "public.example", 80, both],
  [none, "public.example", 1024, both],
  [none, "public.example", 65_535, both],
  [none, "public.example", 25, closed(25)],
  [none, "public.example", 1023, closed(1023)],
  [none, "public.example", 0, closed(0)],
  [none, "public.example", 65_536, closed(65_536)],
  [none, "public.example", Number.NaN, closed(Number.NaN)],
  [none, "missing.example", 25, closed(25)],
  [{ ports: [] }, "public.example", 443, closed(443)],
  [{ ports: [{ first: 443, last: 443 }] }, "public.example", 80, closed(80)],
  [{ allow: ["public.example"] }, "public.example", 25, closed(25)],
  [{ allow: ["public.example:25"] }, "public.example", 25, both],
  [{ allow: ["public.example:25"] }, "many.example", 25, closed(25)],
  [{ allow: ["10.0.0.5:25"] }, "10.0.0.5", 25, ["10.0.0.5"]],
  [{ allow: ["10.0.0.5:25"] }, "private.example", 25, ["10.0.0.5"]],
  [{ allow: ["10.0.0.5:25", "10.0.0.6"] }, "two-private.example", 25, closed(25)],
  [{ allow: ["10.0.0.0/8"] }, "10.0.0.5", 25, closed(25)],

  // What an operator allows.
  [{ allow: ["10.0.0.5"] }, "10.0.0.5", 80, ["10.0.0.5"]],
  [{ allow: ["10.0.0.5"] }, "10.0.0.6", 80, "10.0.0.6 is a private address"],
  [{ allow: ["10.0.0.5"] }, "private.example", 80, ["10.0.0.5"]],
  [{ allow: ["10.0.0.5"] }, "mapped.example", 80, ["10.0.0.5"]],
  [{ allow: ["10.0.0.5"] }, "nat64.example", 80, isPrivate("nat64.example")],
  [{ allow: ["10.0.0.5:8080"] }, "10.0.0.5", 8080, ["10.0.0.5"]],
  [{ allow: ["10.0.0.5:8080"] }, "10.0.0.5", 80, "10.0.0.5 is a private address"],
  [{ allow: ["10.0.0.0/8"] }, "10.200.0.1", 80, ["10.200.0.1"]],
  [{ allow: ["10.0.0.0/8"] }, "mixed.example", 80, ["93.184.216.34", "10.0.0.5"]],
  [{ allow: ["10.0.0.5"] }, "two-private.example", 80, isPrivate("two-private.example")],
  [{ allow: ["private.example"] }, "private.example", 80, ["10.0.0.5"]],
  [{ allow: ["private.example"] }, "10.0.0.5", 80, "10.0.0.5 is a private address"],
  [{ allow: ["private.example:8080"] }, "private.example", 80, isPrivate("private.example")],
  [{ allow: ["*.example"] }, "loopback.example", 80, ["127.0.0.1"]],
  [{ allow: ["*.example"] }, "zone.example", 80, isPrivate("zone.example")],
  [{ allow: ["intranet"] }, "intranet", 80, ["10.0.0.7"]],
  [{ allow: ["missing.example"] }, "missing.example", 80, "missing.example cannot be found"],
  [{ allow: ["fd00::/8"] }, "[fd00::1]", 80, ["fd00::1"]],
  [{ allow: ["localhost:9000"] }, "localhost", 9000, ["127.0.0.1", "::1"]],
  [{ allow: ["localhost:9000"] }, "localhost", 9001, isLocal("localhost")],
  [{ allow: ["localhost:9000"] }, "127.0.0.1", 9000, "127.0.0.1 is a loopback address"],
  [{ allow: ["127.0.0.1:9000"] }, "localhost", 9000, ["127.0.0.1"]],
  [{ allow: ["127.0.0.1:9000"] }, "a.localhost", 9000, ["127.0.0.1"]],
  [{ allow: ["127.0.0.1:9000"] }, "127.0.0.1", 9001, "127.0.0.1 is a loopback address"],
  [{ allow: ["127.0.0.1:9"] }, "localhost", 9, ["127.0.0.1"]],

  // What an operator denies.
  [{ deny: ["*"] }, "public.example", 443, denied],
  [{ deny: ["*"], allow: ["public.example"] }, "public.example", 443, denied],
  [{ deny: ["public.example"] }, "public.example", 443, denied],
  [{ deny: ["public.example"] }, "PUBLIC.EXAMPLE.", 443, denied],
  [{ deny: ["public.example"] }, "many.example", 443, names["many.example"]?.slice(0, 16) ?? []],
  [{ deny: ["public.example:443"] }, "public.example", 443, denied],
  [{ deny: ["public.example:443"] }, "public.example", 80, both],
  [{ deny: ["*.example"] }, "public.example", 443, denied],
  [{ deny: ["93.184.0.0/16"] }, "93.184.216.34", 443, denied],
  [{ deny: ["93.184.0.0/16"] }, "public.example", 443, denied],
  [{ deny: ["93.184.0.0/16"] }, "nat64-public.example", 443, denied],
  [{ deny: ["93.184.0.0/16"] }, "[::ffff:93.184.216.34]", 443, denied],
  [{ deny: ["2606:4700::1111"] }, "public.example", 443, denied],
  [{ deny: ["10.0.0.5"], allow: ["10.0.0.0/8"] }, "10.0.0.5", 80, denied],
  [{ deny: ["10.0.0.5"], allow: ["10.0.0.0/8"] }, "10.0.0.6", 80, ["10.0.0.6"]],
  [{ deny: ["10.0.0.5"], allow: ["private.example"] }, "private.example", 80, denied],
  [{ deny: ["10.0.0.5"], allow: ["two-private.example"] }, "two-private.example", 80, denied],
  [{ deny: ["127.0.0.0/8", "::1"], allow: ["localhost:9000"] }, "localhost", 9000, denied],
  [{ deny: ["127.0.0.0/8"], allow: ["localhost:9000"] }, "localhost", 9000, ["::1"]],
]

describe("createEgressPolicy", () => {
  test.each(table)("%j: %.40s port %d gives %.80j", async (settings, hostname, port, outcome) => {
    const decision = await open(settings).checkHost({ hostname, port })
    if (typeof outcome === "string")
      expect(decision).toMatchObject({ kind: "blocked", reason: outcome })
    else expect(decision).toMatchObject({ kind: "pass", addresses: outcome })
  })

  test("reports whether the operator has allowed the host explicitly", async () => {
    const isAllowed = async (allow: readonly string[], hostname: string, port = 80) => {
      const decision = await open({ allow }).checkHost({ hostname, port })
      return decision.kind === "pass" && decision.isAllowed
    }
    expect(await isAllowed([], "public.example")).toBe(false)
    expect(await isAllowed(["many.example"], "public.example")).toBe(false)
    expect(await isAllowed(["public.example:8080"], "public.example")).toBe(false)
    expect(await isAllowed(["10.0.0.0/8"], "mixed.example")).toBe(false)
    expect(await isAllowed(["public.example"], "public.example")).toBe(true)
    expect(await isAllowed(["93.184.216.34"], "93.184.216.34")).toBe(true)
    expect(await isAllowed(["10.0.0.0/8"], "private.example")).toBe(true)
    expect(await isAllowed(["localhost:9000"], "localhost", 9000)).toBe(true)
  })

  test("resolves a name once, and not if it is refused by its name", async () => {
    const asked: string[] = []
    const resolve = async (name: string) => {
      asked.push(name)
      // A different response each time, as in a DNS rebinding attack.
      return asked.length === 1 ? ["93.184.216.34"] : ["127.0.0.1"]
    }
    const policy = open({ resolve, deny: ["denied.example"] })
    for (const hostname of [
      "denied.example",
      "localhost",
      "a.localhost",
      "93.184.216.34",
      "bad..example",
    ])
      await policy.checkHost({ hostname, port: 80 })
    await policy.checkHost({ hostname: "rebinding.example", port: 25 })
    expect(asked).toEqual([])
    expect(await policy.checkHost({ hostname: "rebinding.example", port: 80 })).toMatchObject({
      addresses: ["93.184.216.34"],
    })
    expect(await policy.checkHost({ hostname: "rebinding.example", port: 80 })).toMatchObject({
      kind: "blocked",
    })
    expect(asked).toEqual(["rebinding.example", "rebinding.example"])
  })

  test("decides again when the addresses of this machine change", async () => {
    let addresses: ReadonlySet<string> = new Set()
    const policy = open({ readOwnAddresses: () => addresses })
    const ask = () =>
      Promise.all(
        ["93.184.216.34", "public.example"].map(
          async (hostname) => (await policy.checkHost({ hostname, port: 80 })).kind,
        ),
      )
    expect(await ask()).toEqual(["pass", "pass"])
    addresses = new Set(["93.184.216.34"])
    expect(await ask()).toEqual(["blocked", "blocked"])
    addresses = new Set(["93.184.216.35"])
    expect(await ask()).toEqual(["pass", "pass"])
  })

  test("passes the owner to the resolver", async () => {
    const owners: (string | undefined)[] = []
    const resolve = async (_: string, ownerId?: string) => {
      owners.push(ownerId)
      return ["93.184.216.34"]
    }
    await open({ resolve }).checkHost({ hostname: "public.example", port: 80, ownerId: "ada" })
    expect(owners).toEqual(["ada"])
  })

  test("does not reveal the address of a name", async () => {
    const reasons = new Set<string>()
    for (const address of [
      "10.0.0.5",
      "127.0.0.1",
      "169.254.169.254",
      "fd00::1",
      "0.0.0.0",
      "203.0.113.1",
      "2002:a00:1::",
    ]) {
      const decision = await open({ resolve: async () => [address] }).checkHost({
        hostname: "some.example",
        port: 80,
      })
      reasons.add(toReason(decision))
    }
    expect([...reasons]).toEqual([isPrivate("some.example")])
  })

  test("returns only addresses that it has checked, whatever the resolver returns", async () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom("10.0.0.1", "::1", "::ffff:127.0.0.1", "junk", "", "127.1", "fe80::1%lo"),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(address, { maxLength: 4 }), async (addresses) => {
        const decision = await open({ resolve: async () => addresses }).checkHost({
          hostname: "some.example",
          port: 80,
        })
        const byThemselves = await Promise.all(
          addresses.map((hostname) => open(none).checkHost({ hostname, port: 80 })),
        )
        const areGood = addresses.length > 0 && byThemselves.every(({ kind }) => kind === "pass")
        // What a resolver must not say, such as 127.1, is not an address; as a host it would be
        // one.
        if (decision.kind === "pass") expect(areGood).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    [
      { allow: ["good.example", "10.0.0.0/64"] },
      'Cannot use HAMLET_EGRESS_ALLOW "10.0.0.0/64": it must be',
    ],
    [{ allow: ["*"] }, 'Cannot use HAMLET_EGRESS_ALLOW "*": it must be'],
    [
      { deny: ["http://example.com"] },
      'Cannot use HAMLET_EGRESS_DENY "http://example.com": it must be',
    ],
  ])("rejects %j with a sentence for the operator", (settings, sentence) => {
    expect(() => open(settings)).toThrow(Refused)
    expect(() => open(settings)).toThrow(sentence)
  })
})

function open(settings: Partial<EgressPolicyOptions>) {
  return createEgressPolicy({
    allow: [],
    deny: [],
    ports: [
      { first: 80, last: 80 },
      { first: 443, last: 443 },
      { first: 1024, last: 65_535 },
    ],
    readOwnAddresses: () => own,
    resolve: async (name) => names[name] ?? Promise.reject(new Error("getaddrinfo ENOTFOUND")),
    ...settings,
  })
}

function toReason(decision: HostDecision): string {
  return decision.kind === "blocked" ? decision.reason : `passed to ${decision.addresses}`
}
