import { unescape as unescapeText } from "node:querystring"
import { runHeader } from "@hamlet/guest/protocol"
import type { HeaderList } from "@hamlet/http1"
import type { OutgoingRequest } from "../../program/outgoing-request.ts"
import type { RunListener } from "../../program/runner.ts"
import { truncateUrl } from "../policy/refusal.ts"

/** Masks secrets in a text, of which it reads and returns no more than `charsMax` characters. */
type Mask = (text: string, charsMax: number) => string

const limits = {
  /** A secret that begins before the end of what is listed is recognized by so many characters. */
  overlapChars: 128,
  /** The most characters that one character takes when it is percent-encoded. */
  escapedCharsMax: 9,
}

/**
 * The run that the guest has named, in the text `{key} {runId}`. A program can send a name too, but does
 * not know the key.
 */
export function findRunId(tag: string, egressKey: string): string | undefined {
  const prefix = `${egressKey} `
  return tag.startsWith(prefix) ? tag.slice(prefix.length) : undefined
}

/** The run that the guest has named. The program can add the header too, but does not know the key. */
export function findNamedRun(headers: HeaderList, egressKey: string): string | undefined {
  for (const [name, value] of headers) {
    const runId = name === runHeader ? findRunId(value, egressKey) : undefined
    if (runId !== undefined) return runId
  }
  return undefined
}

/** Tells a run about a request. Only texts that are listed are searched for secrets. */
export function recordRequest(
  run: RunListener,
  request: OutgoingRequest,
  mask: Mask,
  urlCharsMax: number,
): void {
  const { method, url, blocked } = request
  if (run.listsRequests === false)
    run.sent({ ...request, method: "", url: "", blocked: blocked && "" })
  else
    run.sent({
      ...request,
      method: mask(method, urlCharsMax),
      url: maskUrl(url, mask, urlCharsMax),
      blocked: blocked && maskText(blocked, mask, urlCharsMax),
    })
}

/**
 * Masks a URL, also where secrets are percent-encoded. Then the result shows the decoded URL. The
 * URL may be long and its escapes invalid, so only what can be listed is decoded, and once.
 */
function maskUrl(url: string, mask: Mask, charsMax: number): string {
  const start = url.slice(0, (charsMax + limits.overlapChars) * limits.escapedCharsMax)
  // In the query of a form, "+" stands for a space.
  const texts = [
    start.includes("%") ? start : [],
    start.includes("+") ? start.replace(/\+/g, " ") : [],
  ]
  for (const encoded of texts.flat()) {
    const decoded = unescapeText(encoded)
    if (mask(decoded, charsMax) !== decoded.slice(0, charsMax))
      return maskText(decoded, mask, charsMax)
  }
  return maskText(url, mask, charsMax)
}

function maskText(text: string, mask: Mask, charsMax: number): string {
  const masked = mask(text, charsMax)
  return text.length > charsMax
    ? `${masked.slice(0, charsMax - 1)}…`
    : truncateUrl(masked, charsMax)
}
