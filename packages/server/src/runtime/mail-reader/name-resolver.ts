import { promises as dns } from "node:dns"
import { withinTime } from "../../shared/time/within-time.ts"
import { type NameServerAddress, resolveText } from "./resolve-text.ts"
import { type ResolveName, toDnsError } from "./sender-records.ts"

const limits = {
  /** The time limit of one query, and of all queries for one message. */
  queryMsMax: 4_000,
  allMsMax: 12_000,
  /** SPF and DMARC allow about 30 queries, and each signature adds some. */
  queriesMax: 100,
  nameCharsMax: 253,
  serversMax: 3,
}

/**
 * A resolver for one message. The sender chooses the names, so neither their number nor slow name
 * servers may hold up the thread.
 */
export function createNameResolver(servers: readonly string[] | undefined): ResolveName {
  const resolver = new dns.Resolver({ timeout: limits.queryMsMax, tries: 1 })
  if (servers) resolver.setServers(servers)
  const textServers = (servers ?? resolver.getServers()).slice(0, limits.serversMax).map(toServer)
  const endMs = performance.now() + limits.allMsMax
  let queries = 0
  return async (name, type) => {
    queries += 1
    // No such record, as far as this message is concerned.
    if (queries > limits.queriesMax || !isName(name)) throw toDnsError("ENODATA")
    const leftMs = Math.min(limits.queryMsMax, endMs - performance.now())
    if (leftMs <= 0) throw toDnsError("ETIMEOUT")
    if (type === "TXT") return resolveTextAt(textServers, name, leftMs)
    // The types of records that are asked for are lists of texts.
    const query = resolver.resolve(name, type) as Promise<string[] | string[][]>
    return withinTime(query, leftMs, () => toDnsError("ETIMEOUT"))
  }
}

/** Asks one server after the other until one of them responds. */
async function resolveTextAt(
  servers: readonly NameServerAddress[],
  name: string,
  msMax: number,
): Promise<string[][]> {
  let problem: unknown = toDnsError("ECONNREFUSED")
  for (const server of servers) {
    try {
      return await resolveText(name, server, AbortSignal.timeout(msMax / servers.length))
    } catch (error) {
      const { code = "" } = error as { code?: string }
      if (!["ETIMEOUT", "ECONNREFUSED", "EBADRESP"].includes(code)) throw error
      problem = error
    }
  }
  throw problem
}

/** What fits into a query. */
function isName(name: string): boolean {
  return (
    name.length <= limits.nameCharsMax &&
    name.split(".").every((label) => /^[\x21-\x7e]{1,63}$/.test(label))
  )
}

function toServer(text: string): NameServerAddress {
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  // An IPv6 address without brackets has no port.
  return { host: bracketed ?? plain ?? text, port: Number(port ?? 53) }
}
