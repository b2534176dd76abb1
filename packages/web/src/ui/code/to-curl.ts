/** A request, as a command sends it. */
export interface CurlRequest {
  readonly method: string
  readonly url: string
  /** Whether the token is read from the environment. */
  readonly hasToken: boolean
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: { readonly text: string } | undefined
}

/** The request as a curl command. */
export function toCurl({ method, url, hasToken, headers, body }: CurlRequest): string {
  const parts = [
    `curl ${toMethod(method)}${quote(url)}`,
    ...(hasToken ? ['-H "Authorization: Bearer $HAMLET_TOKEN"'] : []),
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // Not --data: it reads a file when the text begins with @.
    ...(body ? [`--data-raw ${quote(body.text)}`] : []),
  ]
  return parts.join(" \\\n  ")
}

function toMethod(method: string): string {
  if (method === "GET") return ""
  return method === "HEAD" ? "-I " : `-X ${method} `
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
