import { describe, expect, test } from "bun:test"
import type { RoutePolicy } from "./decide.ts"
import {
  decideRecords,
  fromReverseName,
  type RecordsQuery,
  toReverseName,
} from "./decide-records.ts"
import { createEgressPolicy } from "./egress-policy.ts"
import { CannotResolve } from "./limited-lookup.ts"
import { Refusal } from "./refusal.ts"
import type { ResolveRecords } from "./resolve-records.ts"

type Records = Awaited<ReturnType<ResolveRecords>>

const addresses: Readonly<Record<string, readonly string[]>> = {
  "db.example": ["93.184.216.34"],
  "a.db.example": ["93.184.216.35"],
  "wiki.corp.example": ["10.0.0.5"],
  "denied.example": ["93.184.216.50"],
  "web.lan.example": ["93.184.216.36"],
  vault: ["93.184.216.36"],
  "web.allowed.internal": ["93.184.216.36"],
}
const srv = (name: string) => ({ priority: 0, weight: 0, port: 27_017, name })
const records: Readonly<Record<string, Records>> = {
  "SRV _mongodb._tcp.db.example": [srv("a.db.example"), srv("b.db.example")],
  "TXT db.example": [["replicaSet=x"]],
  "TXT nothing.example": [["public"]],
  "TXT wiki.corp.example": [["secret"]],
  "TXT vault.lan.example": [["secret"]],
  "TXT web.lan.example": [["secret"]],
  "TXT vault": [["secret"]],
  "MX web.example": [{ priority: 1, exchange: "web.lan.example" }],
  "TXT web.allowed.internal": [["allowed"]],
  "TXT vault.internal": [["secret"]],
  "TXT vault.allowed.internal": [["allowed"]],
  "TXT denied.example": [["secret"]],
  "TXT busy.example": [["secret"]],
  "SRV _ldap._tcp.wiki.corp.example": [srv("a.db.example")],
  "SRV _ldap._tcp.nothing.example": [srv("a.db.example"), srv("wiki.corp.example")],
  "MX nothing.example": [{ priority: 1, exchange: "mail.internal" }],
  "MX db.example": [
    { priority: 1, exchange: "a.db.example" },
    { priority: 0, exchange: "" },
  ],
  "NS nothing.example": ["dns"],
  "CNAME wiki.example": ["wiki.corp.example"],
  "SOA nothing.example": [{ nsname: "denied.example", serial: 1 }],
  "NAPTR nothing.example": [{ order: 1, replacement: "_sip._udp.vault.internal" }],
  // Name servers follow aliases: these have the records of the names that they lead to.
  "CNAME alias.example": ["vault.internal"],
  "TXT alias.example": [["secret"]],
  "CNAME second.example": ["alias.example"],
  "TXT second.example": [["secret"]],
  "CNAME www.example": ["db.example"],
  "TXT www.example": [["replicaSet=x"]],
  "CNAME loop.example": ["loop.example"],
  "TXT loop.example": [["secret"]],
  "CAA db.example": [{ critical: 0, issue: "ca.example" }],
  "PTR 34.216.184.93.in-addr.arpa": ["db.example"],
  "CNAME 35.216.184.93.in-addr.arpa": ["35.0-63.216.184.93.in-addr.arpa"],
  "PTR 35.216.184.93.in-addr.arpa": ["a.db.example"],
  "CNAME 36.216.184.93.in-addr.arpa": ["5.0.0.10.in-addr.arpa"],
  "PTR 36.216.184.93.in-addr.arpa": ["wiki.corp.example"],
  "PTR 5.0.0.10.in-addr.arpa": ["wiki.corp.example"],
  "MX many.example": Array.from({ length: 65 }, (_, index) => ({
    priority: index,
    exchange: `mail${index}.example`,
  })),
  "TXT large.example": Array.from({ length: 100 }, () => ["x".repeat(400)]),
}

const policy: RoutePolicy = {
  own: {
    isApiHost: () => false,
    isProgramHost: () => false,
    fetchApi: async () => new Response(),
    address: () => undefined,
  },
  hosts: createEgressPolicy({
    allow: ["*.allowed.internal"],
    deny: ["denied.example", "*.denied.example"],
    ports: [],
    resolve: async (name) => {
      if (name === "busy.example") throw new CannotResolve("cannot be looked up now")
      return addresses[name] ?? []
    },
    readOwnAddresses: () => new Set(["203.0.114.5"]),
  }),
  resolveRecords: async (type, name) => {
    const found = records[`${type} ${name}`]
    if (!found) throw new CannotResolve("has no such records", { isAbsent: true })
    return found
  },
  privateDomains: ["lan.example"],
  ca: undefined,
  addressesMax: 3,
}

const ownNetwork = (name: string) => `${name} is a name of the server's own network`
const hidden = "its records name a host that programs may not reach"

/** What comes of it: the records of that key, or the reason. */
const table: readonly (readonly [type: RecordsQuery["type"], host: string, outcome: string])[] = [
  ["SRV", "_mongodb._tcp.db.example", "SRV _mongodb._tcp.db.example"],
  ["SRV", "_MongoDB._tcp.DB.example.", "SRV _mongodb._tcp.db.example"],
  ["TXT", "db.example", "TXT db.example"],
  ["MX", "db.example", "MX db.example"],
  ["CAA", "db.example", "CAA db.example"],
  // A name without addresses may be public.
  ["TXT", "nothing.example", "TXT nothing.example"],
  ["TXT", "missing.example", "missing.example has no such records"],
  // Names of the machine's own network.
  ["TXT", "wiki.corp.example", "wiki.corp.example resolves to a private address"],
  ["SRV", "_ldap._tcp.wiki.corp.example", "wiki.corp.example resolves to a private address"],
  ["TXT", "vault.lan.example", ownNetwork("vault.lan.example")],
  ["TXT", "lan.example", ownNetwork("lan.example")],
  // Hosts of the own network may have public addresses.
  ["TXT", "web.lan.example", ownNetwork("web.lan.example")],
  ["TXT", "Web.Lan.Example.", ownNetwork("web.lan.example")],
  ["MX", "web.example", hidden],
  ["TXT", "web.allowed.internal", "TXT web.allowed.internal"],
  ["TXT", "vault.internal", ownNetwork("vault.internal")],
  ["TXT", "_x.vault.internal", ownNetwork("_x.vault.internal")],
  ["TXT", "vault", ownNetwork("vault")],
  ["NS", "10.in-addr.arpa", ownNetwork("10.in-addr.arpa")],
  ["TXT", "localhost", "localhost is the machine on which the server runs"],
  ["TXT", "vault.allowed.internal", "TXT vault.allowed.internal"],
  ["TXT", "denied.example", "the operator of this server has denied it"],
  ["TXT", "_x.denied.example", "the operator of this server has denied it"],
  // A name that cannot be looked up may have a private address.
  ["TXT", "busy.example", "busy.example cannot be looked up now"],
  // Hosts of the machine's own network.
  ["SRV", "_ldap._tcp.nothing.example", hidden],
  ["MX", "nothing.example", hidden],
  ["NS", "nothing.example", hidden],
  ["CNAME", "wiki.example", hidden],
  ["SOA", "nothing.example", hidden],
  ["NAPTR", "nothing.example", hidden],
  // Aliases.
  ["TXT", "www.example", "TXT www.example"],
  ["TXT", "alias.example", "alias.example is an alias of a host that programs may not reach"],
  ["TXT", "second.example", "second.example is an alias of a host that programs may not reach"],
  ["TXT", "loop.example", "loop.example is an alias of too many names"],
  // Names of addresses.
  ["PTR", "93.184.216.34", "PTR 34.216.184.93.in-addr.arpa"],
  ["PTR", "34.216.184.93.in-addr.arpa", "PTR 34.216.184.93.in-addr.arpa"],
  ["PTR", "93.184.216.35", "PTR 35.216.184.93.in-addr.arpa"],
  [
    "PTR",
    "93.184.216.36",
    "36.216.184.93.in-addr.arpa is an alias of a host that programs may not reach",
  ],
  ["PTR", "10.0.0.5", "10.0.0.5 is a private address"],
  ["PTR", "5.0.0.10.in-addr.arpa", "10.0.0.5 is a private address"],
  ["PTR", "::ffff:10.0.0.5", "10.0.0.5 is a private address"],
  ["PTR", "203.0.114.5", "203.0.114.5 is an address of the machine on which the server runs"],
  ["PTR", "db.example", "it does not stand for an address"],
  ["PTR", "0.10.in-addr.arpa", "it does not stand for an address"],
  ["MX", "93.184.216.34", "it is an address, which has PTR records"],
  ["MX", "a b", "it is neither a name nor an address"],
  ["MX", "", "it is neither a name nor an address"],
  // Limits.
  ["MX", "many.example", "many.example has too many records"],
  ["TXT", "large.example", "large.example has too many records"],
]

describe("decideRecords", () => {
  test.each(table)("decides about %s of %s", async (type, host, outcome) => {
    const found = await decideRecords(policy, "ada", { type, host })
    if (found instanceof Refusal) expect(found.reason).toBe(outcome)
    else expect(found).toEqual(records[outcome] ?? [])
  })

  test("says that there are no records", async () => {
    const found = await decideRecords(policy, "ada", { type: "MX", host: "missing.example" })
    expect(found).toMatchObject({ code: "ENOTFOUND" })
  })

  test("reveals nothing about an error of the resolver", async () => {
    const failing = { ...policy, resolveRecords: () => Promise.reject(new Error("10.0.0.53")) }
    const found = await decideRecords(failing, "ada", { type: "MX", host: "db.example" })
    expect((found as Refusal).reason).toBe("db.example cannot be found")
  })
})

describe("toReverseName", () => {
  test.each([
    ["93.184.216.34", "34.216.184.93.in-addr.arpa"],
    ["2606:4700::1111", "1.1.1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.7.4.6.0.6.2.ip6.arpa"],
  ])("and fromReverseName translate %s", (address, name) => {
    expect(toReverseName(address)).toBe(name)
    expect(fromReverseName(name)).toBe(address)
  })
})
