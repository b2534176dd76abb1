import { describe, expect, test } from "bun:test"
import type { OwnServer } from "./decide.ts"
import { decideLookup, decideSocket, type SocketTarget } from "./decide-socket.ts"
import { createEgressPolicy } from "./egress-policy.ts"
import { Refusal } from "./refusal.ts"

const names: Readonly<Record<string, readonly string[]>> = {
  "db.example": ["93.184.216.34", "93.184.216.35", "2606:4700::1111", "93.184.216.36"],
  "other.example": ["93.184.216.40"],
  "private.example": ["10.0.0.5"],
  "mixed.example": ["93.184.216.34", "10.0.0.5"],
  "db.internal": ["10.0.0.7"],
  "own.example": ["203.0.114.5"],
  "denied.example": ["93.184.216.50"],
}
const own: OwnServer = {
  isApiHost: (host) => host === "localhost:8080" || host === "hamlet.example",
  isProgramHost: (host) => host === "ada-hello.localhost:8080",
  fetchApi: async () => new Response(),
  address: () => undefined,
}
const policy = {
  own,
  hosts: createEgressPolicy({
    allow: ["db.internal:5432", "localhost:9000", "10.9.0.0/16"],
    deny: ["denied.example", "93.184.216.60", "other.example:6379"],
    ports: [{ first: 1, last: 65_535 }],
    socketPorts: [
      { first: 443, last: 443 },
      { first: 5432, last: 5432 },
      { first: 6379, last: 6379 },
      { first: 8080, last: 8080 },
    ],
    resolve: async (name) => names[name] ?? [],
    readOwnAddresses: () => own_,
  }),
  resolveRecords: () => Promise.reject(new Error("decide looks up no records")),
  privateDomains: [],
  ca: undefined,
  addressesMax: 3,
}
const own_ = new Set(["127.0.0.1", "203.0.114.5"])

const closed = (port: number) =>
  `port ${port} is not among those that programs may reach over sockets; the operator can add it to HAMLET_EGRESS_SOCKET_PORTS`

/** What comes of it: addresses, the origin of this server, or the reason. */
const table: readonly (readonly [target: SocketTarget, outcome: readonly string[] | string])[] = [
  [{ host: "db.example", port: 5432 }, ["93.184.216.34", "93.184.216.35", "2606:4700::1111"]],
  [{ host: "DB.example.", port: 5432 }, ["93.184.216.34", "93.184.216.35", "2606:4700::1111"]],
  [{ host: "93.184.216.34", port: 5432 }, ["93.184.216.34"]],
  [{ host: "0x5db8d822", port: 5432 }, ["93.184.216.34"]],
  // The address that the program has looked up before, if it is one of the name.
  [{ host: "db.example", address: "93.184.216.36", port: 5432 }, ["93.184.216.36"]],
  [{ host: "db.example", address: "2606:4700:0::1111", port: 5432 }, ["2606:4700::1111"]],
  [{ host: "db.internal", address: "10.0.0.7", port: 5432 }, ["10.0.0.7"]],
  // Otherwise the address must be allowed by itself, whatever the name is.
  [{ host: "db.example", address: "93.184.216.40", port: 5432 }, ["93.184.216.40"]],
  [{ host: "db.example", address: "10.0.0.5", port: 5432 }, "10.0.0.5 is a private address"],
  [{ host: "db.internal", address: "10.0.0.8", port: 5432 }, "10.0.0.8 is a private address"],
  [{ host: "db.example", address: "127.0.0.1", port: 5432 }, "127.0.0.1 is a loopback address"],
  [
    { host: "db.example", address: "93.184.216.60", port: 5432 },
    "the operator of this server has denied it",
  ],
  [{ host: "db.example", address: "other.example", port: 5432 }, "its address is not an address"],
  [{ host: "db.example", address: "", port: 5432 }, "its address is not an address"],
  // A name decides first: an address does not rescue it.
  [
    { host: "denied.example", address: "93.184.216.34", port: 443 },
    "the operator of this server has denied it",
  ],
  [
    { host: "private.example", address: "93.184.216.34", port: 443 },
    "private.example resolves to a private address",
  ],
  [{ host: "mixed.example", port: 443 }, "mixed.example resolves to a private address"],
  [{ host: "10.0.0.5", port: 443 }, "10.0.0.5 is a private address"],
  [{ host: "169.254.169.254", port: 443 }, "169.254.169.254 is a link-local address"],
  [{ host: "::ffff:127.0.0.1", port: 443 }, "127.0.0.1 is a loopback address"],
  [{ host: "[::1]", port: 443 }, "::1 is a loopback address"],
  [{ host: "10.9.1.1", port: 443 }, ["10.9.1.1"]],
  // Ports.
  [{ host: "93.184.216.34", port: 25 }, closed(25)],
  [{ host: "db.example", port: 22 }, closed(22)],
  [{ host: "10.9.1.1", port: 22 }, closed(22)],
  [{ host: "db.internal", port: 443 }, "db.internal resolves to a private address"],
  [{ host: "other.example", port: 6379 }, "the operator of this server has denied it"],
  [{ host: "localhost", port: 9000 }, ["127.0.0.1", "::1"]],
  [{ host: "localhost", address: "127.0.0.1", port: 9000 }, ["127.0.0.1"]],
  [{ host: "localhost", port: 5432 }, "localhost is the machine on which the server runs"],
  // This server.
  [{ host: "localhost", port: 8080 }, "http://localhost:8080"],
  [{ host: "LOCALHOST.", address: "127.0.0.1", port: 8080 }, "http://localhost:8080"],
  [{ host: "ada-hello.localhost", port: 8080 }, "http://ada-hello.localhost:8080"],
  [{ host: "127.0.0.1", port: 8080 }, "127.0.0.1 is a loopback address"],
  [
    { host: "own.example", port: 443 },
    "own.example resolves to an address of the machine on which the server runs",
  ],
  [
    { host: "hamlet.example", port: 443 },
    "programs reach this server with fetch, not with TLS over a socket",
  ],
  // What is not a host.
  [{ host: "a b", port: 443 }, "its host is neither a name nor an address"],
  [{ host: "http://x", port: 443 }, "its host is neither a name nor an address"],
  [{ host: "x@y", port: 443 }, "its host is neither a name nor an address"],
  [{ host: "%31", port: 443 }, "its host is neither a name nor an address"],
]

describe("decideSocket", () => {
  test.each(table)("decides about %j", async (target, outcome) => {
    const route = await decideSocket(policy, "ada", target)
    if (route instanceof Refusal) expect(route.reason).toBe(outcome as string)
    else if (route.kind === "own") expect(route.origin).toBe(outcome as string)
    else expect(route.addresses).toEqual(outcome as string[])
  })

  test("says that a name was not found", async () => {
    const route = await decideSocket(policy, "ada", { host: "nowhere.example", port: 443 })
    expect(route).toMatchObject({ code: "ENOTFOUND" })
    expect((route as Refusal).reason).toBe("nowhere.example cannot be found")
  })
})

describe("decideLookup", () => {
  test.each([
    ["db.example", names["db.example"]],
    ["db.internal", ["10.0.0.7"]],
    ["localhost", ["127.0.0.1", "::1"]],
    ["a.localhost", ["127.0.0.1", "::1"]],
    ["other.example", ["93.184.216.40"]],
    ["private.example", "private.example resolves to a private address"],
    ["mixed.example", "mixed.example resolves to a private address"],
    ["own.example", "own.example resolves to an address of the machine on which the server runs"],
    ["denied.example", "the operator of this server has denied it"],
    ["nowhere.example", "nowhere.example cannot be found"],
    ["10.0.0.5", "10.0.0.5 is a private address"],
    ["a b", "its host is neither a name nor an address"],
  ])("decides about %s", async (host, outcome) => {
    const found = await decideLookup(policy, "ada", host)
    expect(found instanceof Refusal ? found.reason : found).toEqual(outcome as string)
  })
})
