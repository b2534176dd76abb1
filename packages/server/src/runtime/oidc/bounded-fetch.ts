/** The largest response of a provider: its keys, its settings or the claims about a person. */
const responseBytesMax = 1_048_576

/**
 * A fetch for the provider. The provider names the URLs of its endpoints itself, so each is checked:
 * HTTPS, or this machine where the operator has set a provider on this machine. Redirects are not
 * followed, and a response has a maximum size.
 */
export async function boundedFetch(
  url: string,
  init: RequestInit,
  allowsThisMachine: boolean,
): Promise<Response> {
  const { protocol, hostname } = new URL(url)
  if (protocol !== "https:" && !(allowsThisMachine && isThisMachine(hostname)))
    throw new TypeError("the provider names an endpoint without HTTPS")
  const response = await fetch(url, { ...init, redirect: "manual" })
  const { status, headers } = response
  const body = await readBounded(response)
  return new Response(body.length === 0 ? null : body, { status, headers })
}

/** Whether a host name means the loopback interface. */
export function isThisMachine(hostname: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(hostname)
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > responseBytesMax) throw new TypeError("the response of the provider is too large")
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts))
}
