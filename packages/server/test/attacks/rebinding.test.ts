import { afterAll, expect } from "bun:test"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { Canary, hasIPv6 } from "./support/canary.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { shareEvalVal } from "./support/eval-val.ts"
import { NameServer, type Zone } from "./support/name-server.ts"
import { whyNoNameServer, writeResolvConf } from "./support/resolv-conf.ts"

/**
 * What the operator allows, in the place of a public address; what is forbidden is right beside it.
 */
const good = "127.0.83.2"
const bad = ["127.0.83.3", "127.0.0.1", ...(hasIPv6 ? ["::1"] : [])]
/** Two of these suites may run on a machine. */
const nameServerAddress = `127.83.${(process.pid >> 8) & 0xff}.${process.pid & 0xff}`

interface Lie {
  readonly tries: string
  readonly zone: Zone
  /** Where it is not that the address is forbidden. */
  readonly outcome?: "passes" | "is not found"
}

const addresses = (...list: string[]) => list.map((address) => ({ address }))
const only4 =
  (...list: string[]): Zone =>
  (_, type) =>
    type === "A" ? addresses(...list) : []
const only6 =
  (...list: string[]): Zone =>
  (_, type) =>
    type === "AAAA" ? addresses(...list) : []
/** A network that is allowed as a whole. */
const goodNetwork = "127.0.84.0/24"
const many = Array.from({ length: 50 }, (_, index) => `127.0.84.${index}`)

/** By the name that does it, below `test`. */
const lies: Readonly<Record<string, Lie>> = {
  honest: { tries: "a good address", zone: only4(good), outcome: "passes" },
  first: {
    tries: "a good address to the first question and a forbidden one to the next",
    zone: changing(good, "127.0.83.3"),
    outcome: "passes",
  },
  mixed: { tries: "a good address and then a forbidden one", zone: only4(good, "127.0.83.3") },
  mixedagain: { tries: "a forbidden address and then a good one", zone: only4("127.0.83.3", good) },
  six: {
    tries: "a good address and ::1 beside it",
    zone: (_, type) => addresses(type === "A" ? good : "::1"),
  },
  mapped: { tries: "a forbidden address in IPv6", zone: only6("::ffff:127.0.0.1") },
  compatible: { tries: "a forbidden address in the old form of IPv6", zone: only6("::127.0.0.1") },
  nat64: { tries: "a forbidden address behind NAT64", zone: only6("64:ff9b::7f00:1") },
  sixtofour: { tries: "a forbidden address behind 6to4", zone: only6("2002:7f00:1::") },
  linklocal: { tries: "a link-local address", zone: only6("fe80::1") },
  ula: {
    tries: "a private address in IPv6 beside a good one",
    zone: (_, type) => addresses(type === "A" ? good : "fd00::2"),
  },
  alias: {
    tries: "that it is called localhost",
    zone: (_, type) => [{ alias: "localhost" }, ...addresses(type === "A" ? "127.0.0.1" : "::1")],
  },
  bare: {
    tries: "that it is called localhost, and nothing more",
    zone: () => [{ alias: "localhost" }],
    outcome: "is not found",
  },
  chain: {
    tries: "another name, which has a forbidden address",
    zone: (_, type) =>
      type === "A" ? [{ alias: "a.test" }, { alias: "b.test" }, ...addresses("127.0.83.3")] : [],
  },
  hidden: {
    tries: "50 good addresses and a forbidden one at the end",
    zone: only4(...many, "127.0.83.3"),
  },
  nothing: { tries: "0.0.0.0", zone: only4("0.0.0.0") },
  everywhere: { tries: "a broadcast address", zone: only4("255.255.255.255") },
  cloud: {
    tries: "the address at which clouds tell about a machine",
    zone: only4("169.254.169.254"),
  },
  none: { tries: "that it has no address", zone: () => [], outcome: "is not found" },
  "127-0-0-1": { tries: "the address that is in its name", zone: only4("127.0.0.1") },
}

function changing(first: string, then: string): Zone {
  return (_, type, query) => (type === "A" ? addresses(query === 0 ? first : then) : [])
}

const title = "names that change their addresses"
const reason = whyNoNameServer()
if (reason !== undefined) notRun(title, reason)
else {
  /** Names that move when a test says so. */
  const moving: Record<string, string> = { hook: good, late: good }
  const names = await NameServer.listen(nameServerAddress, (name, type, query) => {
    const label = name.split(".").at(-2) ?? ""
    const moved = moving[label]
    if (moved !== undefined) return only4(moved)(name, type, query)
    return label === "silent" ? undefined : lies[label]?.zone(name, type, query)
  })
  const [friend, ...forbidden] = (await Canary.listenTogether([good, ...bad])) as [
    Canary,
    ...Canary[],
  ]
  const resolvConf = writeResolvConf(nameServerAddress)
  const env = { HAMLET_EGRESS_ALLOW: `${good}:${friend.port},${goodNetwork}` }
  afterAll(() => {
    names.stop()
    for (const canary of [friend, ...forbidden]) canary.stop()
    resolvConf.remove()
  })

  const expectNobody = () =>
    expect(forbidden.map(({ connections }) => connections)).toEqual(bad.map(() => 0))

  describeAttacks(
    title,
    env,
    (getServer) => {
      const getPuppet = shareEvalVal(getServer)
      const get = (name: string) =>
        `fetch("http://${name}.test:${friend.port}/").then((answer) => answer.text())`

      for (const [name, { tries, outcome }] of Object.entries(lies))
        probe(getServer, `a name says ${tries}`, async () => {
          const { got, denied } = await (await getPuppet()).evaluate(`return await ${get(name)}`)
          const reason =
            outcome === "is not found" ? "cannot be found" : "resolves to a private address"
          if (outcome === "passes") expect(got ?? denied).toBe("captured")
          else
            expect(denied ?? `it got ${got}`).toBe(
              `TypeError: Cannot fetch "http://${name}.test:${friend.port}/": ${name}.test ${reason}`,
            )
          // There was no second lookup that could have returned another address.
          expect(names.queries.get(`${name}.test A`)).toBe(1)
          expectNobody()
        })

      for (const [name, { tries, outcome }] of Object.entries(lies))
        probe(getServer, `a name of a socket says ${tries}`, async () => {
          const host = `s.${name}.test`
          const { got, denied } = await (await getPuppet()).evaluate(
            `const { default: net } = await import("node:net"); return await new Promise((resolve, reject) => { const socket = net.connect(${friend.port}, "${host}"); socket.once("data", (bytes) => { socket.destroy(); resolve(String(bytes).slice(-8)) }); socket.once("connect", () => socket.write("x")); socket.once("error", reject) })`,
          )
          const reason =
            outcome === "is not found" ? "cannot be found" : "resolves to a private address"
          if (outcome === "passes") expect(got ?? denied).toBe("captured")
          else
            expect(denied ?? `it got ${got}`).toBe(
              `Error: Cannot look up "${host}": ${host} ${reason}`,
            )
          expectNobody()
        })

      probe(
        getServer,
        "a name changes between the lookup of a val and its connection",
        async () => {
          const evalVal = await getPuppet()
          const host = "late.test"
          const { got, denied } = await evalVal.evaluate(
            `const { default: dns } = await import("node:dns/promises"); const { default: net } = await import("node:net")
            globalThis.connectLate = (lookup) => new Promise((resolve) => { const socket = net.connect({ host: "${host}", port: ${friend.port}, lookup }); socket.once("connect", () => { socket.destroy(); resolve("open") }); socket.once("error", (error) => resolve(error.message)) })
            const { address } = await dns.lookup("${host}")
            return [address, await globalThis.connectLate()]`,
          )
          expect(denied ?? got).toEqual([good, "open"])
          moving.late = "127.0.83.3"
          // What the server has found is used for a moment.
          const later = await waitUntil(async () => {
            const { got: outcome } = await evalVal.evaluate(
              `return await globalThis.connectLate((_, options, callback) => options.all ? callback(null, [{ address: "127.0.83.3", family: 4 }]) : callback(null, "127.0.83.3", 4))`,
            )
            return String(outcome).includes("resolves to") && outcome
          })
          expect(later).toBe(
            `Cannot connect to "${host}:${friend.port}": ${host} resolves to a private address`,
          )
          expectNobody()
        },
      )

      probe(getServer, "a name that has changed is not reached at its new address", async () => {
        const evalVal = await getPuppet()
        const name = "x.first"
        expect(await evalVal.evaluate(`return await ${get(name)}`)).toMatchObject({
          got: "captured",
        })
        // What was found is used for a moment; then the name is what it is now.
        const denied = await waitUntil(
          async () => (await evalVal.evaluate(`return await ${get(name)}`)).denied,
        )
        expect(denied).toMatch(
          /^TypeError: Cannot fetch "http:\/\/x\.first\.test:\d+\/": x\.first\.test resolves to a private address$/,
        )
        expectNobody()
      })

      probe(
        getServer,
        "a name that says something else each time is asked once for a hundred requests at the same time",
        async () => {
          const before = friend.connections
          const { got } = await (await getPuppet()).evaluate(
            `return (await Promise.allSettled(Array.from({ length: 100 }, () => ${get("many.first")}))).filter(({ value }) => value === "captured").length`,
          )
          expect(got).toBe(100)
          expect(friend.connections - before).toBeGreaterThanOrEqual(1)
          expect(names.queries.get("many.first.test A")).toBe(1)
          expectNobody()
        },
      )

      probe(getServer, "a WebSocket goes to no name that has a forbidden address", async () => {
        for (const name of ["mixed", "six", "alias", "chain"]) {
          const { got } = await (await getPuppet()).evaluate(
            `return await new Promise((resolve) => { const socket = new WebSocket("ws://w.${name}.test:${friend.port}/"); socket.onopen = () => resolve("open"); socket.onerror = () => resolve("refused") })`,
          )
          expect(got).toBe("refused")
        }
        expectNobody()
      })

      probe(getServer, "a receiver of webhooks moves to a forbidden address", async (server) => {
        const body = { url: `http://hook.test:${friend.port}/`, events: ["val.saved"] }
        const as = server.mallory
        const path = `/v1/me/webhooks/${(await server.call("POST", "/v1/me/webhooks", { as, body })).json.id}`
        const send = async () => {
          const { json } = await server.call("POST", `${path}/test`, { as })
          return waitUntil(async () => {
            const sent = await server.call("GET", `${path}/deliveries/${json.id}`, { as })
            return sent.json.attempts > 0 && (sent.json.status === "delivered" || sent.json.error)
          })
        }
        expect(await send()).toBe(true)
        moving.hook = "127.0.0.1"
        // What was found before is used for a moment.
        const error = await waitUntil(async () => {
          const outcome = await send()
          return outcome !== true && outcome
        })
        expect(error).toContain("hook.test resolves to a private address")
        expectNobody()
        await server.call("DELETE", path, { as })
      })

      probe(getServer, "a name that nobody answers for holds up nobody else", async () => {
        const evalVal = await getPuppet()
        const waiting = evalVal.evaluate(`await ${get("silent")}`)
        expect(await evalVal.evaluate(`return await ${get("y.honest")}`)).toMatchObject({
          got: "captured",
        })
        expect((await waiting).denied).toMatch(
          /^TypeError: Cannot fetch "http:\/\/silent\.test:\d+\/": silent\.test (cannot be found|was not found in time)/,
        )
      })

      probe(getServer, "the server itself is not found behind a name", async (server) => {
        const { denied, got } = await (await getPuppet()).evaluate(
          `return (await fetch("http://server.127-0-0-1.test:${server.port}/healthz")).status`,
        )
        expect(denied ?? `it got ${got}`).toMatch(/resolves to a private address$/)
      })
    },
    resolvConf.command,
  )
}
