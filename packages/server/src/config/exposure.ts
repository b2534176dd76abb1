import { type ReadSetting, readChoice } from "./readers.ts"

/** The addresses of a server. */
export interface Addresses {
  readonly host: string
  readonly baseUrl: string
  readonly valsDomain: string
}

/**
 * Whether the server is for other machines. The listening address does not tell: a proxy on the
 * same machine connects to loopback, and its clients come from anywhere.
 */
export function readIsPublic(read: ReadSetting, { host, baseUrl, valsDomain }: Addresses): boolean {
  const chosen = readChoice("HAMLET_PUBLIC", read("HAMLET_PUBLIC"), ["auto", "yes", "no"])
  if (chosen !== "auto") return chosen === "yes"
  return ![host, new URL(baseUrl).hostname, valsDomain.replace(/:\d+$/, "")].every(isOfThisMachine)
}

/** Whether a host name or address is loopback. */
export function isOfThisMachine(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[?::1\]?|([^.]+\.)*localhost)$/i.test(host)
}
