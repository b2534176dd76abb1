import { describe, expect, test } from "bun:test"
import { Refused } from "@hamlet/kit"
import { type Host, parseHost } from "./host.ts"
import { allowRules, createRuleList, denyRules, type Match } from "./rule-list.ts"

/** An entry, a host, a port, and whether the one covers the other. */
const table: readonly (readonly [entry: string, host: string, port: number, match: Match])[] = [
  ["example.com", "example.com", 80, "host"],
  ["example.com", "EXAMPLE.COM.", 80, "host"],
  ["Example.COM.", "example.com", 80, "host"],
  ["example.com", "www.example.com", 80, "none"],
  ["example.com", "badexample.com", 80, "none"],
  ["example.com", "example.com.evil.org", 80, "none"],
  ["example.com:8080", "example.com", 8080, "port"],
  ["example.com:8080", "example.com", 80, "none"],
  ["bücher.example", "xn--bcher-kva.example", 80, "host"],
  ["intranet", "intranet", 80, "host"],
  ["intranet", "intranet.example", 80, "none"],
  ["*.example.com", "www.example.com", 80, "host"],
  ["*.example.com", "a.b.example.com", 80, "host"],
  ["*.example.com", "example.com", 80, "none"],
  ["*.example.com", "badexample.com", 80, "none"],
  ["*.example.com:25", "mail.example.com", 25, "port"],
  ["*.example.com:25", "mail.example.com", 26, "none"],
  ["10.0.0.5", "10.0.0.5", 80, "host"],
  ["10.0.0.5", "10.0.0.6", 80, "none"],
  ["10.0.0.5", "10.0.0.5.example.com", 80, "none"],
  ["10.0.0.5", "0xa000005", 80, "host"],
  ["10.0.0.5", "::ffff:10.0.0.5", 80, "host"],
  ["::ffff:10.0.0.5", "10.0.0.5", 80, "host"],
  ["10.0.0.5:8080", "10.0.0.5", 8080, "port"],
  ["10.0.0.5:8080", "10.0.0.5", 8081, "none"],
  ["fd00::5", "fd00::5", 80, "host"],
  ["FD00:0::5", "[fd00::5]", 80, "host"],
  ["[fd00::5]", "fd00::5", 80, "host"],
  ["[fd00::5]:8080", "fd00::5", 8080, "port"],
  ["[fd00::5]:8080", "fd00::5", 80, "none"],
  ["fd00::5:8080", "fd00::5:8080", 80, "host"],
  ["10.1.0.0/16", "10.1.255.255", 80, "host"],
  ["10.1.0.0/16", "10.2.0.0", 80, "none"],
  ["10.1.2.3/16", "10.1.9.9", 80, "host"],
  ["10.1.0.0/16", "fd00::1", 80, "none"],
  ["10.1.0.0/16", "ten.example", 80, "none"],
  ["0.0.0.0/0", "8.8.8.8", 80, "host"],
  ["0.0.0.0/0", "fd00::1", 80, "none"],
  ["10.0.0.1/32", "10.0.0.1", 80, "host"],
  ["10.0.0.1/32", "10.0.0.2", 80, "none"],
  ["fd00::/8", "fdff::1", 80, "host"],
  ["fd00::/8", "fe80::1", 80, "none"],
  ["fd00::/8", "253.0.0.1", 80, "none"],
  ["::ffff:10.1.0.0/112", "10.1.2.3", 80, "host"],
  ["::ffff:10.1.0.0/112", "10.2.0.0", 80, "none"],
]

describe("createRuleList", () => {
  for (const kind of [allowRules, denyRules])
    test.each(table)(
      `${kind.setting}=%s: %s port %d is covered: %s`,
      (entry, host, port, match) => {
        expect(createRuleList(kind, [entry]).match(read(host), port)).toBe(match)
      },
    )

  test.each([
    ["*", 80, "host"],
    ["*:25", 25, "port"],
    ["*:25", 80, "none"],
  ] as const)("HAMLET_EGRESS_DENY=%s covers every host with port %d: %s", (entry, port, match) => {
    for (const host of ["example.com", "8.8.8.8", "fd00::1"])
      expect(createRuleList(denyRules, [entry]).match(read(host), port)).toBe(match)
  })

  test("denies all forms of an address, and allows only the address itself", () => {
    const host = read("64:ff9b::8.8.8.8")
    expect(createRuleList(denyRules, ["8.8.8.0/24"]).match(host, 80)).toBe("host")
    expect(createRuleList(denyRules, ["64:ff9b::/96"]).match(host, 80)).toBe("host")
    expect(createRuleList(allowRules, ["8.8.8.0/24"]).match(host, 80)).toBe("none")
    expect(createRuleList(allowRules, ["64:ff9b::/96"]).match(host, 80)).toBe("host")
  })

  test("prefers the entry with the port, in any order", () => {
    for (const entries of [
      ["db.example", "db.example:5432"],
      ["db.example:5432", "db.example"],
    ]) {
      expect(createRuleList(allowRules, entries).match(read("db.example"), 5432)).toBe("port")
      expect(createRuleList(allowRules, entries).match(read("db.example"), 80)).toBe("host")
    }
  })

  test("hasPort finds the ports of entries", () => {
    const rules = createRuleList(allowRules, ["db.example:5432", "10.1.0.0/16"])
    expect([rules.hasPort(5432), rules.hasPort(80)]).toEqual([true, false])
  })

  const bad = [
    "",
    ":80",
    "example.com:",
    "example.com:0",
    "example.com:65536",
    "example.com:99999",
    "example.com:http",
    "example.com:80:90",
    "http://example.com",
    "example.com/path",
    "user@example.com",
    "exa mple.com",
    "a..b",
    "*.",
    "*example.com",
    "a.*.example.com",
    "*.*.example.com",
    "*.10.0.0.1",
    "*.[::1]",
    "10.*",
    "10.1",
    "0x7f.1",
    "127.0.0.1.",
    "256.0.0.1",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/8:80",
    "10.0/8",
    "fd00::/129",
    "::ffff:10.0.0.0/95",
    "fe80::1%eth0",
    "[fd00::5",
    "[fd00::5]:",
    "[fd00::5]8080",
    "[example.com]:80",
    "[10.0.0.1]:80",
    "localhost,",
  ]
  for (const kind of [allowRules, denyRules])
    test.each(bad)(`${kind.setting} cannot be %p`, (entry) => {
      expect(() => createRuleList(kind, ["good.example", entry])).toThrow(Refused)
      expect(() => createRuleList(kind, [entry])).toThrow(
        `Cannot use ${kind.setting} "${entry}": it must be`,
      )
    })

  test.each(["*", "*:80"])("HAMLET_EGRESS_ALLOW cannot be %p", (entry) => {
    expect(() => createRuleList(allowRules, [entry])).toThrow(
      `Cannot use HAMLET_EGRESS_ALLOW "${entry}": it must be`,
    )
  })
})

function read(text: string): Host {
  const host = parseHost(text)
  if (!host) throw new Error(`${text} is no host`)
  return host
}
