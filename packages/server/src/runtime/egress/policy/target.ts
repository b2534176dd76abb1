import { Refusal } from "./refusal.ts"

/** Where a request wants to go. */
export interface Target {
  readonly href: string
  readonly isTls: boolean
  /** In lower case, and an address in its one usual form; IPv6 in brackets. */
  readonly hostname: string
  readonly port: number
  /** With the port, unless it is the usual one. */
  readonly host: string
  /** Path and query. */
  readonly path: string
}

/**
 * Reads the address of a request as browsers do. All that happens from here on uses what was read,
 * and nothing the sandbox has written, so that there is no second opinion about what it means.
 */
export function parseTarget(target: string): Target | Refusal {
  const isTls = target.startsWith("https://")
  if (!isTls && !target.startsWith("http://"))
    return new Refusal(400, "it is not a whole address of http or https")
  if (target.includes("#")) return new Refusal(400, "there is a fragment in it")
  if (target.includes("@") && /^[^:]*:\/\/[^/\\?]*@/.test(target))
    return new Refusal(400, "there is a user name in it")
  const url = URL.parse(target)
  if (!url) return new Refusal(400, "it is no proper address")
  const { href, hostname, host } = url
  const start = (isTls ? "https://" : "http://").length + host.length
  // Every further question to a URL costs as much as reading it: what stands before and behind the
  // host is known.
  if (href.slice(start - host.length, start) !== host)
    return new Refusal(400, "it is no proper address")
  const port =
    host.length > hostname.length ? Number(host.slice(hostname.length + 1)) : isTls ? 443 : 80
  return { href, isTls, hostname, port, host, path: href.slice(start) }
}
