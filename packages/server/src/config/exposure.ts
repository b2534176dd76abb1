import { type ReadSetting, readChoice } from "./readers.ts"

/** Where a server is found. */
export interface Addresses {
  readonly host: string
  readonly baseUrl: string
  readonly valsDomain: string
}

/**
 * Whether others than this machine are served, and protections are for them. Where it listens does
 * not say so: a proxy on the same machine connects to loopback, and its visitors come from
 * anywhere.
 */
export function readIsPublic(read: ReadSetting, { host, baseUrl, valsDomain }: Addresses): boolean {
  const chosen = readChoice("HAMLET_PUBLIC", read("HAMLET_PUBLIC"), ["auto", "yes", "no"])
  if (chosen !== "auto") return chosen === "yes"
  return ![host, new URL(baseUrl).hostname, valsDomain.replace(/:\d+$/, "")].every(isOfThisMachine)
}

/** Whether a host name or address leads to this machine and nowhere else. */
export function isOfThisMachine(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[?::1\]?|([^.]+\.)*localhost)$/i.test(host)
}
