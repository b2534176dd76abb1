import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js"

/** An address, whichever way it was written. */
export interface Address {
  /** The one notation in which it is shown and connected to; IPv6 without brackets. */
  readonly text: string
  /** First what it is, then the IPv4 address to which a translator on the way would send it. */
  readonly forms: readonly [IPv4 | IPv6, ...IPv4[]]
}

/**
 * Why vals may not reach an address, as words that follow "is"; undefined when they may. Only what
 * is certainly public passes.
 */
export function findFault(address: Address): string | undefined {
  for (const form of address.forms) {
    const range = form instanceof ipaddr.IPv4 ? rangeOfIPv4(form) : rangeOfIPv6(form)
    if (range !== "unicast" && range !== translated) return words[range] ?? "a reserved address"
  }
  return undefined
}

const words: Readonly<Record<string, string>> = {
  private: "a private address",
  uniqueLocal: "a private address",
  deprecatedSiteLocal: "a private address",
  loopback: "a loopback address",
  linkLocal: "a link-local address",
  carrierGradeNat: "an address inside a carrier's network",
  multicast: "a multicast address",
  broadcast: "a broadcast address",
  unspecified: "an unspecified address",
  metadata: "an address of the cloud's own services",
  compatible: "a translated address",
  isatap: "a translated address",
  rfc6052: "a translated address",
  rfc6145: "a translated address",
  "6to4": "a translated address",
  teredo: "a translated address",
}

/** The longest is an IPv6 address with the end of IPv4. */
const addressCharsMax = 45

/**
 * An IPv4 address as four decimal numbers, or an IPv6 address without brackets and zone. It is for
 * the URL parser to say what an IPv6 address means: the library takes `::127.0.0.1` for
 * `::ffff:127.0.0.1`, the operating system does not.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > addressCharsMax) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return toAddress(ipaddr.IPv4.parse(text))
  if (!text.includes(":") || !/^[0-9a-f:.]+$/i.test(text)) return undefined
  const canonical = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
  return canonical === undefined ? undefined : toAddress(ipaddr.IPv6.parse(canonical))
}

/**
 * A mapped address is the IPv4 address: the operating system connects to that. One with the
 * well-known prefix of NAT64 is sent to the IPv4 address in it by the network, and is what names
 * resolve to where there is only IPv6; so both of its forms are judged.
 */
function toAddress(ip: IPv4 | IPv6): Address {
  if (ip instanceof ipaddr.IPv4) return { text: ip.toString(), forms: [ip] }
  const { parts } = ip
  if (ip.isIPv4MappedAddress()) return toAddress(toIPv4(parts))
  return { text: ip.toString(), forms: isWellKnownNat64(parts) ? [ip, toIPv4(parts)] : [ip] }
}

function toIPv4(parts: readonly number[]): IPv4 {
  const [high = 0, low = 0] = parts.slice(-2)
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff])
}

/**
 * 64:ff9b::/96. The library has one name for it and for 64:ff9b:1::/48, in which every network puts
 * the IPv4 address where it likes.
 */
function isWellKnownNat64(parts: readonly number[]): boolean {
  return parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0)
}

const translated = "translated by a form that is judged itself"

/**
 * Azure answers virtual machines there, with what is theirs alone; all other clouds use addresses
 * of some special range.
 */
const azurePlatform = "168.63.129.16"

function rangeOfIPv4(ip: IPv4): string {
  return ip.toString() === azurePlatform ? "metadata" : ip.range()
}

/**
 * Three things that the library does not know: what is compatible with IPv4, what is assigned at
 * all (2000::/3), and ISATAP.
 */
function rangeOfIPv6(ip: IPv6): string {
  const { parts } = ip
  const range: string = ip.range()
  if (range === "rfc6052" && isWellKnownNat64(parts)) return translated
  if (range !== "unicast") return range
  if (parts.slice(0, 6).every((part) => part === 0)) return "compatible"
  if (((parts[0] ?? 0) & 0xe000) !== 0x2000) return "unassigned"
  return isIsatap(parts) ? "isatap" : "unicast"
}

/**
 * An interface that is ::0:5efe:a.b.c.d, with either of the two bits that tell whether that address
 * is unique and whether it is a group.
 */
function isIsatap(parts: readonly number[]): boolean {
  return ((parts[4] ?? 0) & 0xfcff) === 0 && parts[5] === 0x5efe
}
