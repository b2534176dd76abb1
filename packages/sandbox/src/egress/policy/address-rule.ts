import ipaddr, { type IPv4, type IPv6 } from "ipaddr.js"

/** An address, independent of its notation. */
export interface Address {
  /** The canonical notation, for messages and for connecting; IPv6 without brackets. */
  readonly text: string
  /** The address itself, then the IPv4 address to which NAT64 would translate it. */
  readonly forms: readonly [IPv4 | IPv6, ...IPv4[]]
}

/**
 * Why programs must not reach an address, as words that follow "is"; undefined if they may. Only
 * addresses that are certainly public are allowed.
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

/** The longest notation is an IPv6 address that ends with an IPv4 address. */
const addressCharsMax = 45

/**
 * Parses an IPv4 address of four decimal numbers, or an IPv6 address without brackets and zone. The
 * URL parser normalizes IPv6 first: the library reads `::127.0.0.1` as `::ffff:127.0.0.1`, the
 * operating system does not.
 */
export function parseAddress(text: string): Address | undefined {
  if (text.length > addressCharsMax) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return toAddress(ipaddr.IPv4.parse(text))
  if (!text.includes(":") || !/^[0-9a-f:.]+$/i.test(text)) return undefined
  const canonical = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1)
  return canonical === undefined ? undefined : toAddress(ipaddr.IPv6.parse(canonical))
}

/**
 * An IPv4-mapped address is treated as the IPv4 address, to which the operating system connects. An
 * address with the well-known NAT64 prefix is translated by the network to the IPv4 address in it;
 * in networks with IPv6 only, names resolve to such addresses. Both of its forms are checked.
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
 * 64:ff9b::/96. The library does not distinguish it from 64:ff9b:1::/48, where each network places
 * the IPv4 address differently.
 */
function isWellKnownNat64(parts: readonly number[]): boolean {
  return parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0)
}

const translated = "translated to an address that is checked itself"

/** The metadata service of Azure. All other clouds use addresses of a special range. */
const azurePlatform = "168.63.129.16"

function rangeOfIPv4(ip: IPv4): string {
  return ip.toString() === azurePlatform ? "metadata" : ip.range()
}

/**
 * Adds three ranges that the library does not know: IPv4-compatible addresses, addresses outside of
 * the assigned 2000::/3, and ISATAP.
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

/** The interface identifier is ::0:5efe:a.b.c.d; its bits "universal" and "group" may be set. */
function isIsatap(parts: readonly number[]): boolean {
  return ((parts[4] ?? 0) & 0xfcff) === 0 && parts[5] === 0x5efe
}
