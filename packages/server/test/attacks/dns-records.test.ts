import { afterAll, expect } from "bun:test"
import { notRun } from "@hamlet/kit/testing"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { shareEvalVal } from "./support/eval-val.ts"
import { NameServer, recordData, type Zone } from "./support/name-server.ts"
import { whyNoNameServer, writeResolvConf } from "./support/resolv-conf.ts"

/** Two of these suites may run on a machine. */
const nameServerAddress = `127.84.${(process.pid >> 8) & 0xff}.${process.pid & 0xff}`

const { srv, txt, mx, host, caa, naptr, soa } = recordData

/** The operator allows the first, in the place of a public address. */
const addresses: Readonly<Record<string, string>> = {
  "honest.test": "127.0.83.2",
  "nothing.test": "10.0.0.5",
}

/** The data of records, by type and name. */
const data: Readonly<Record<string, readonly Buffer[]>> = {
  "SRV _db._tcp.records.test": [srv(1, 2, 27_017, "honest.test"), srv(3, 4, 27_018, "absent.test")],
  "TXT records.test": [txt("authSource=admin"), txt("x".repeat(255), "rest")],
  "MX records.test": [mx(10, "honest.test")],
  "NS records.test": [host("honest.test")],
  "CAA records.test": [caa(128, "issue", "ca.test")],
  "NAPTR records.test": [naptr(1, 2, ["s", "SIP+D2U", ""], "_sip._udp.honest.test")],
  "SOA records.test": [soa("honest.test", "root.test", 1, 2, 3, 4, 5)],
  "SRV _db._tcp.leak.test": [srv(1, 2, 27_017, "honest.test"), srv(3, 4, 27_018, "nothing.test")],
  "MX leak.test": [mx(10, "mail.internal")],
  "TXT nothing.test": [txt("a secret of the network")],
  "TXT vault.internal": [txt("a secret of the network")],
  "TXT vault.office.test": [txt("a secret of the network")],
  "MX broken.test": [Buffer.from([0, 1, 200])],
  "TXT odd.test": [txt('"},\u0000\n{"')],
}

const zone: Zone = (name, type) => {
  if (type === "A" && name in addresses) return [{ address: addresses[name] ?? "" }]
  if (type === "A" && /^near\d/.test(name)) return [{ address: "127.0.83.2" }]
  if (type === "A" && /^unreadable\d/.test(name)) return [{ data: Buffer.from([127, 0]) }]
  if (type === "MX" && /^broken\d/.test(name)) return [{ data: Buffer.from([0, 1, 200]) }]
  if (type === "TXT" && /^beside\d/.test(name)) return [{ data: txt("beside") }]
  return (data[`${type} ${name}`] ?? []).map((bytes) => ({ data: bytes }))
}

const title = "records of names"
const reason = whyNoNameServer()
if (reason !== undefined) notRun(title, reason)
else {
  const names = await NameServer.listen(nameServerAddress, zone)
  const resolvConf = writeResolvConf(nameServerAddress, "search office.test")
  afterAll(() => {
    names.stop()
    resolvConf.remove()
  })

  describeAttacks(
    title,
    { HAMLET_EGRESS_ALLOW: "127.0.83.2" },
    (getServer) => {
      const getPuppet = shareEvalVal(getServer)
      const resolve = (call: string) =>
        // The server has not seen this import, so the module is prepared with `process` only.
        `process.pid; const { default: dns } = await import("node:dns/promises"); return await ${call}`

      probe(getServer, "records of public names are found", async () => {
        const { got, denied } = await (await getPuppet()).evaluate(
          resolve(
            `Promise.all([dns.resolveSrv("_db._tcp.records.test"), dns.resolveTxt("records.test"), dns.resolveMx("records.test"), dns.resolveNs("records.test"), dns.resolveSoa("records.test"), dns.resolve("records.test", "CAA"), new dns.Resolver().resolveNaptr("records.test")])`,
          ),
        )
        const long = "x".repeat(255)
        expect(denied ?? got).toEqual([
          [
            { priority: 1, weight: 2, port: 27_017, name: "honest.test" },
            { priority: 3, weight: 4, port: 27_018, name: "absent.test" },
          ],
          [["authSource=admin"], [long, "rest"]],
          [{ priority: 10, exchange: "honest.test" }],
          ["honest.test"],
          {
            nsname: "honest.test",
            hostmaster: "root.test",
            serial: 1,
            refresh: 2,
            retry: 3,
            expire: 4,
            minttl: 5,
          },
          [{ critical: 128, issue: "ca.test" }],
          [
            {
              order: 1,
              preference: 2,
              flags: "s",
              service: "SIP+D2U",
              regexp: "",
              replacement: "_sip._udp.honest.test",
            },
          ],
        ])
      })

      probe(getServer, "records of public names are found with Deno.resolveDns", async () => {
        const { got, denied } = await (await getPuppet()).evaluate(
          `return [await Deno.resolveDns("_db._tcp.records.test", "SRV"), await Deno.resolveDns("records.test", "MX"), await Deno.resolveDns("records.test", "NS"), await Deno.resolveDns("records.test", "CAA"), await Deno.resolveDns("records.test", "SOA"), await Deno.resolveDns("odd.test", "TXT"), await Deno.resolveDns("records.test", "CNAME").catch((error) => error.name + ": " + error.message)]`,
        )
        expect(denied ?? got).toEqual([
          [
            { priority: 1, weight: 2, port: 27_017, target: "honest.test." },
            { priority: 3, weight: 4, port: 27_018, target: "absent.test." },
          ],
          [{ preference: 10, exchange: "honest.test." }],
          ["honest.test."],
          [{ critical: true, tag: "issue", value: "ca.test" }],
          [
            {
              mname: "honest.test.",
              rname: "root.test.",
              serial: 1,
              refresh: 2,
              retry: 3,
              expire: 4,
              minimum: 5,
            },
          ],
          [['"},\u0000\n{"']],
          'NotFound: Cannot look up CNAME of "records.test": records.test has no such records',
        ])
      })

      probe(
        getServer,
        "a malformed response to one lookup does not fail others that are under way",
        async () => {
          const { got, denied } = await (await getPuppet()).evaluate(
            resolve(
              `Promise.all(Array.from({ length: 24 }, (_, index) => index % 2 ? dns.resolveTxt("beside" + index + ".test") : dns.resolveMx("broken" + index + ".test").catch(() => "broken")))`,
            ),
          )
          const expected = Array.from({ length: 24 }, (_, index) =>
            index % 2 ? [["beside"]] : "broken",
          )
          expect(denied ?? got).toEqual(expected)
        },
      )

      probe(
        getServer,
        "a malformed address of one name does not fail other lookups that are under way",
        async () => {
          const { got, denied } = await (await getPuppet()).evaluate(
            resolve(
              `Promise.all(Array.from({ length: 24 }, (_, index) => index % 2 ? dns.resolve4("near" + index + ".test") : dns.resolve4("unreadable" + index + ".test").catch(() => "unreadable")))`,
            ),
          )
          const expected = Array.from({ length: 24 }, (_, index) =>
            index % 2 ? ["127.0.83.2"] : "unreadable",
          )
          expect(denied ?? got).toEqual(expected)
        },
      )

      const refusals: readonly (readonly [title: string, call: string, reason: RegExp])[] = [
        [
          "texts of a name with a private address",
          `dns.resolveTxt("nothing.test")`,
          /^Error: Cannot look up TXT of "nothing\.test": nothing\.test resolves to a private address$/,
        ],
        [
          "texts of a private domain",
          `dns.resolveTxt("vault.internal")`,
          /: vault\.internal is a name of the server's own network$/,
        ],
        [
          "texts of a domain in which the machine searches",
          `dns.resolveTxt("vault.office.test")`,
          /: vault\.office\.test is a name of the server's own network$/,
        ],
        [
          "a service with a private address",
          `dns.resolveSrv("_db._tcp.leak.test")`,
          /: its records name a host that programs may not reach$/,
        ],
        [
          "a mail server in a private domain",
          `dns.resolveMx("leak.test")`,
          /: its records name a host that programs may not reach$/,
        ],
        [
          "the name of a private address",
          `dns.reverse("10.0.0.5")`,
          /^Error: Cannot look up PTR of "10\.0\.0\.5": 10\.0\.0\.5 is a private address$/,
        ],
        [
          "records that are malformed",
          `dns.resolveMx("broken.test")`,
          /^Error: Cannot look up MX of "broken\.test": broken\.test (cannot be found|has no such records)$/,
        ],
      ]
      for (const [what, call, reason] of refusals)
        probe(getServer, `a val does not see ${what}`, async () => {
          const { got, denied } = await (await getPuppet()).evaluate(resolve(call))
          expect(denied ?? `it got ${JSON.stringify(got)}`).toMatch(reason)
          const [, text] = /resolveTxt\("(.+)"\)/.exec(call) ?? []
          expect(names.queries.get(`${text} TXT`)).toBeUndefined()
        })
    },
    resolvConf.command,
  )
}
