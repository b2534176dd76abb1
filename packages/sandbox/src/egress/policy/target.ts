import { Refusal } from "./refusal.ts"

/** The URL of a request, parsed. */
export interface Target {
  readonly href: string
  readonly isTls: boolean
  /** In lower case; an address in its canonical form, IPv6 in brackets. */
  readonly hostname: string
  readonly port: number
  /** With the port, unless that is the default one. */
  readonly host: string
  /** Path and query. */
  readonly path: string
}

/** User information before the host, even when it is empty, which the URL parser drops. */
const userInfo = /^https?:\/\/[^/\\?]*@/

/**
 * Parses the URL of a request as browsers do. Everything after this uses the parsed parts and never
 * the text that the sandbox sent, so that two parsers cannot disagree about the host.
 */
export function parseTarget(text: string): Target | Refusal {
  if (!text.startsWith("https://") && !text.startsWith("http://"))
    return new Refusal(400, "it is not an absolute http or https URL")
  if (text.includes("#")) return new Refusal(400, "it contains a fragment")
  const url = URL.parse(text)
  if (!url) return new Refusal(400, "it is not a valid URL")
  if (url.username !== "" || url.password !== "" || userInfo.test(text))
    return new Refusal(400, "it contains a user name")
  const isTls = url.protocol === "https:"
  const defaultPort = isTls ? 443 : 80
  return {
    href: url.href,
    isTls,
    hostname: url.hostname,
    port: url.port === "" ? defaultPort : Number(url.port),
    host: url.host,
    // Not `pathname + search`, which drops the "?" of an empty query.
    path: url.href.slice(url.origin.length),
  }
}
