/**
 * From where a page of ours may load scripts, for its policy: from the folder of its files. 'self'
 * would also be the addresses of vals as modules, which anybody can write. An address in brackets
 * cannot be named by a policy, so there 'self' it is.
 */
export function toScriptSources(baseUrl: string, request: Request, folder: string): string {
  const hosts = [...new Set([new URL(baseUrl).host, request.headers.get("host") ?? ""])].filter(
    (host) => host !== "",
  )
  return hosts.every((host) => /^[a-z0-9.-]+(:\d+)?$/i.test(host))
    ? hosts.map((host) => host + folder).join(" ")
    : "'self'"
}
