/**
 * What the limits of clients without an account count by: the address, or the network (/64) of an
 * IPv6 address, since one client can have billions of those.
 */
export function toClientKey(address: string): string {
  if (!address.includes(":")) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const groups = address.split("::")
  const head = (groups[0] ?? "").split(":")
  const missing = address.includes("::") ? Math.max(0, 4 - head.length) : 0
  return `${[...head, ...Array.from({ length: missing }, () => "0")].slice(0, 4).join(":")}::/64`
}
