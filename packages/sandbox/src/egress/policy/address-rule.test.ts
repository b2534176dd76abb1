import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { findFault, parseAddress } from "./address-rule.ts"
import { parseHost } from "./host.ts"

const privateAddress = "a private address"
const loopback = "a loopback address"
const linkLocal = "a link-local address"
const multicast = "a multicast address"
const reserved = "a reserved address"
const translated = "a translated address"
const carrier = "an address inside a carrier's network"
const unspecified = "an unspecified address"
const cloud = "an address of the cloud's own services"

/** A host as written in a request, and the reason of its refusal; undefined when it is public. */
const table: readonly (readonly [host: string, fault: string | undefined])[] = [
  // IPv4, with the ends of every range and their neighbours.
  ["0.0.0.0", unspecified],
  ["0.255.255.255", unspecified],
  ["1.0.0.0", undefined],
  ["9.255.255.255", undefined],
  ["10.0.0.0", privateAddress],
  ["10.255.255.255", privateAddress],
  ["11.0.0.0", undefined],
  ["100.63.255.255", undefined],
  ["100.64.0.0", carrier],
  ["100.127.255.255", carrier],
  ["100.128.0.0", undefined],
  ["126.255.255.255", undefined],
  ["127.0.0.0", loopback],
  ["127.0.0.1", loopback],
  ["127.255.255.255", loopback],
  ["128.0.0.0", undefined],
  ["169.253.255.255", undefined],
  ["169.254.0.0", linkLocal],
  ["169.254.255.255", linkLocal],
  ["169.255.0.0", undefined],
  ["172.15.255.255", undefined],
  ["172.16.0.0", privateAddress],
  ["172.31.255.255", privateAddress],
  ["172.32.0.0", undefined],
  ["192.0.0.0", reserved],
  ["192.0.0.255", reserved],
  ["192.0.1.0", undefined],
  ["192.0.2.1", reserved],
  ["192.31.196.1", reserved],
  ["192.52.193.1", reserved],
  ["192.88.99.1", reserved],
  ["192.167.255.255", undefined],
  ["192.168.0.0", privateAddress],
  ["192.168.255.255", privateAddress],
  ["192.169.0.0", undefined],
  ["192.175.48.1", reserved],
  ["198.17.255.255", undefined],
  ["198.18.0.0", reserved],
  ["198.19.255.255", reserved],
  ["198.20.0.0", undefined],
  ["198.51.100.1", reserved],
  ["203.0.113.80", reserved],
  ["223.255.255.255", undefined],
  ["224.0.0.1", multicast],
  ["239.255.255.255", multicast],
  ["240.0.0.1", reserved],
  ["255.255.255.254", reserved],
  ["255.255.255.255", "a broadcast address"],

  // Addresses in other spellings.
  ["127.0.0.1.", loopback],
  ["127.1", loopback],
  ["127.0.1", loopback],
  ["2130706433", loopback],
  ["0x7f000001", loopback],
  ["0X7F.0.0.1", loopback],
  ["0x7f.1", loopback],
  ["017700000001", loopback],
  ["0177.0.0.1", loopback],
  ["0177.0x0.0.01", loopback],
  ["１２７.０.０.１", loopback],
  ["127。0。0。1", loopback],
  ["0", unspecified],
  ["0xa9fea9fe", linkLocal],
  ["2852039166", linkLocal],
  ["0251.0376.0251.0376", linkLocal],
  ["192.168.257", privateAddress],
  ["0x08080808", undefined],
  ["134744072", undefined],

  // IPv6.
  ["::", unspecified],
  ["::1", loopback],
  ["[::1]", loopback],
  ["0:0:0:0:0:0:0:1", loopback],
  ["0000:0000:0000:0000:0000:0000:0000:0001", loopback],
  ["::0001", loopback],
  ["fe80::1", linkLocal],
  ["FE80::1", linkLocal],
  ["febf::1", linkLocal],
  ["fec0::1", privateAddress],
  ["fc00::1", privateAddress],
  ["fd12:3456:789a::1", privateAddress],
  ["fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", privateAddress],
  ["ff02::1", multicast],
  ["ff0e::1", multicast],
  ["100::1", reserved],
  ["100:0:0:1::1", reserved],
  ["2001:2::1", reserved],
  ["2001:3::1", reserved],
  ["2001:4:112::1", reserved],
  ["2001:10::1", reserved],
  ["2001:20::1", reserved],
  ["2001:30::1", reserved],
  ["2001:1ff::1", reserved],
  ["2001:db8::1", reserved],
  ["2620:4f:8000::1", reserved],
  ["3fff::1", reserved],
  ["5f00::1", reserved],
  ["4000::1", reserved],
  ["1fff::1", reserved],
  ["8000::1", reserved],
  ["fe00::1", reserved],
  ["2606:4700:4700::1111", undefined],
  ["[2606:4700:4700::1111]", undefined],
  ["2001:4860:4860::8888", undefined],
  ["2a00::1", undefined],

  // IPv4 within IPv6: mapped is IPv4, NAT64 is what is in it, and all other forms are refused
  // whatever is in them.
  ["::ffff:127.0.0.1", loopback],
  ["::ffff:7f00:1", loopback],
  ["[::ffff:7f00:1]", loopback],
  ["::FFFF:10.0.0.1", privateAddress],
  ["0:0:0:0:0:ffff:a9fe:a9fe", linkLocal],
  ["::ffff:0.0.0.0", unspecified],
  ["::ffff:203.0.113.1", reserved],
  ["::ffff:8.8.8.8", undefined],
  ["64:ff9b::127.0.0.1", loopback],
  ["64:ff9b::a00:1", privateAddress],
  ["64:ff9b::169.254.169.254", linkLocal],
  ["64:ff9b::100.64.0.1", carrier],
  ["64:ff9b::168.63.129.16", cloud],
  ["64:ff9b::8.8.8.8", undefined],
  ["64:ff9b:0:0:0:1:808:808", reserved],
  ["64:ff9b:1::127.0.0.1", translated],
  ["64:ff9b:1::8.8.8.8", translated],
  ["::127.0.0.1", translated],
  ["::7f00:1", translated],
  ["::8.8.8.8", translated],
  ["::2", translated],
  ["::ffff:0:127.0.0.1", translated],
  ["::ffff:0:808:808", translated],
  ["2002:7f00:1::", translated],
  ["2002:a00:1::1", translated],
  ["2002:808:808::1", translated],
  ["2001:0:7f00:1::", translated],
  ["2001::1", translated],
  ["2001:0:4136:e378:8000:63bf:3fff:fdd2", translated],
  ["2a00::5efe:127.0.0.1", translated],
  ["2a00::5efe:a00:1", translated],
  ["2a00::200:5efe:192.168.0.1", translated],
  ["2a00::300:5efe:192.168.0.1", translated],
  ["2a00::200:5efe:8.8.8.8", translated],
  ["fe80::5efe:10.0.0.1", linkLocal],

  // Where clouds keep what belongs to the machine: all but one are in some special range.
  ["169.254.169.254", linkLocal],
  ["169.254.170.2", linkLocal],
  ["169.254.0.23", linkLocal],
  ["100.100.100.200", carrier],
  ["192.0.0.192", reserved],
  ["fd00:ec2::254", privateAddress],
  ["fd20:ce::254", privateAddress],
  ["fe80::a9fe:a9fe", linkLocal],
  ["168.63.129.16", cloud],
  ["::ffff:168.63.129.16", cloud],
  ["168.63.129.15", undefined],
]

describe("findFault", () => {
  test.each(table)("%s: %s", (text, fault) => {
    const host = parseHost(text)
    if (host?.kind !== "address") throw new Error("it was not read as an address")
    expect(findFault(host.address)).toBe(fault)
  })

  const notations: readonly ((ip: string, hex: string) => string)[] = [
    (ip) => ip,
    (_, hex) => `0x${hex.replace(":", "")}`,
    (_, hex) => String(Number.parseInt(hex.replace(":", ""), 16)),
    (ip) => `::ffff:${ip}`,
    (_, hex) => `::ffff:${hex}`,
    (ip) => `::${ip}`,
    (_, hex) => `::${hex}`,
    (ip) => `::ffff:0:${ip}`,
    (ip) => `64:ff9b::${ip}`,
    (_, hex) => `64:ff9b::${hex}`,
    (ip) => `64:ff9b:1::${ip}`,
    (_, hex) => `64:ff9b:1:${hex.split(":")[0]}:0:${hex.split(":")[1]}::`,
    (_, hex) => `2002:${hex}::1`,
    (_, hex) => `2001:0:${hex}::1`,
    // Teredo has the client's address with every bit the other way round.
    (_, hex) =>
      `2001:0:808:808::${hex.replace(/[0-9a-f]/g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16))}`,
    (_, hex) => `2a00:1450:4001:81b:0:5efe:${hex}`,
    (ip) => `2a00:1450:4001:81b:200:5efe:${ip}`,
  ]

  const octet = fc.integer({ min: 0, max: 255 })
  const hidden = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 224, 240, 255), octet, octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(198), fc.constantFrom(18, 19), octet, octet),
  )

  test("refuses non-public IPv4 addresses in every IPv6 form", () => {
    fc.assert(
      fc.property(hidden, fc.constantFrom(...notations), (octets, notation) => {
        const host = parseHost(notation(octets.join("."), toHex(octets)))
        return host?.kind === "address" && findFault(host.address) !== undefined
      }),
      { numRuns: 5000 },
    )
  })

  test("allows no IPv6 address outside of 2000::/3 except two forms of IPv4", () => {
    const parts = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(parts, (numbers) => {
        const address = parseAddress(numbers.map((number) => number.toString(16)).join(":"))
        const isGlobal = ((numbers[0] ?? 0) & 0xe000) === 0x2000
        return (
          address !== undefined &&
          (isGlobal || !address.text.includes(":") || findFault(address) !== undefined)
        )
      }),
      { numRuns: 5000 },
    )
  })
})

describe("parseAddress", () => {
  test.each([
    ["::ffff:8.8.8.8", "8.8.8.8"],
    ["::FFFF:808:808", "8.8.8.8"],
    ["2606:4700::0:1111", "2606:4700::1111"],
    ["2A00:0:0:0:0:0:0:1", "2a00::1"],
    ["::8.8.8.8", "::808:808"],
    ["64:ff9b::8.8.8.8", "64:ff9b::808:808"],
  ])("writes %s as %s", (text, canonical) => {
    expect(parseAddress(text)?.text).toBe(canonical)
  })

  test.each([
    "",
    ":",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "12345::",
    "::1%lo",
    "fe80::1%25eth0",
    "[::1]",
    "::1]",
    "::1/128",
    "::1@::2",
    "::ffff:127.1",
    "::ffff:0177.0.0.1",
    "::ffff:1.2.3.4.5",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "0x1.2.3.4",
    "256.1.1.1",
    "1.2.3.4 ",
    " 1.2.3.4",
    "1.2.3.-4",
    "2130706433",
    "localhost",
    "1".repeat(100),
    `::${"0".repeat(100)}1`,
  ])("rejects %p", (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })
})

function toHex(octets: readonly number[]): string {
  const hex = octets.map((number) => number.toString(16).padStart(2, "0")).join("")
  return `${hex.slice(0, 4)}:${hex.slice(4)}`
}
