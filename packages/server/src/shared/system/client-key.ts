import { isIPv6 } from "node:net"

/** The unit of limits for clients without an account. Networks get IPv6 addresses by the billion: one client is a /64. */
export function toClientKey(address: string): string {
  if (!isIPv6(address)) return address
  const groups = address.split("::")
  const head = (groups[0] ?? "").split(":")
  const missing = address.includes("::") ? Math.max(0, 4 - head.length) : 0
  return `${[...head, ...Array.from({ length: missing }, () => "0")].slice(0, 4).join(":")}::/64`
}
