import type { OutgoingRequest } from "../../../domain/egress.ts"
import { truncateUrl } from "../policy/refusal.ts"

type Mask = (text: string) => string

/** Removes secrets from the entry of a run's list, and truncates its URL. */
export function maskOutgoingRequest(
  request: OutgoingRequest,
  mask: Mask,
  urlCharsMax: number,
): OutgoingRequest {
  return {
    ...request,
    method: mask(request.method),
    // Masked before it is truncated: a part of a secret would not be recognized.
    url: truncateUrl(maskUrl(request.url, mask), urlCharsMax),
    blocked: request.blocked && mask(request.blocked),
  }
}

/** Also finds secrets that are percent-encoded. Then the result shows the decoded URL. */
function maskUrl(url: string, mask: Mask): string {
  for (const encoded of /[%+]/.test(url) ? [url, url.replaceAll("+", " ")] : []) {
    const decoded = encoded.replace(/(%[0-9a-f]{2})+/gi, decodeOrKeep)
    const masked = mask(decoded)
    if (masked !== decoded) return masked
  }
  return mask(url)
}

/** Escapes that are not valid UTF-8 are kept as they are. */
function decodeOrKeep(escapes: string): string {
  try {
    return decodeURIComponent(escapes)
  } catch {
    return escapes
  }
}
