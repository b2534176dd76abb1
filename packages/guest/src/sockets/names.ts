import { arrayPush, stringIndexOf } from "../primordials.ts"
import { type RecordType, recordTypes } from "../protocol.ts"
import { bindingOf, type NameRequest } from "./bindings.ts"
import { findRecords, lookUp, type SocketError, toSocketError } from "./requests.ts"

/** Makes `node:dns` ask the host, which returns the addresses that the val may reach. */
export function provideNames(): void {
  const cares = bindingOf("cares_wrap")
  const { DNS_ORDER_IPV4_FIRST, DNS_ORDER_IPV6_FIRST } = cares
  cares.getaddrinfo = (request, name, family, _hints, order) => {
    void respond(request, "getaddrinfo", name, async () => {
      const all = await lookUp(name)
      if (family === 4 || family === 6) return ofFamily(all, family)
      if (order === DNS_ORDER_IPV4_FIRST) return ofFamily(all, 4).concat(ofFamily(all, 6))
      if (order === DNS_ORDER_IPV6_FIRST) return ofFamily(all, 6).concat(ofFamily(all, 4))
      return all
    })
    return 0
  }
  const channel = cares.ChannelWrap.prototype
  channel.queryA = (request, name) => resolve(request, "queryA", name, 4)
  channel.queryAaaa = (request, name) => resolve(request, "queryAaaa", name, 6)
  for (const type of recordTypes) {
    const syscall = `query${type[0]}${type.slice(1).toLowerCase()}`
    channel[syscall] = (request, name) => resolveRecords(request, syscall, name, type)
  }
  channel.getHostByAddr = (request, name) => resolveRecords(request, "getHostByAddr", name, "PTR")
  // What Node says where no name server is configured.
  channel.getServers = () => [["127.0.0.1", 53]]
  channel.setServers = () => {
    throw toSocketError("EACCES", "Cannot set name servers: the server looks names up for vals")
  }
  channel.queryAny = (request, name) => {
    void respond(request, "queryAny", name, async () => {
      throw toSocketError("EACCES", toAnyMessage(name))
    })
    return 0
  }
}

/** The addresses of one family: 4 or 6. */
export function ofFamily(addresses: readonly string[], family: number): string[] {
  const found: string[] = []
  for (let index = 0; index < addresses.length; index += 1) {
    const address = addresses[index] as string
    if ((stringIndexOf(address, ":") === -1) === (family === 4)) arrayPush(found, address)
  }
  return found
}

function toAnyMessage(name: string): string {
  return `Cannot look up all records of "${name}": name servers do not return them; look up one type, such as MX or TXT`
}

/** Addresses are not cached here, so their time to live is short. */
const ttlSeconds = 5

function resolve(request: NameRequest, syscall: string, name: string, family: number): number {
  void respond(request, syscall, name, async () => {
    const found = ofFamily(await lookUp(name), family)
    if (request.ttl !== true) return found
    const records: unknown[] = []
    for (let index = 0; index < found.length; index += 1)
      arrayPush(records, { address: found[index], ttl: ttlSeconds })
    return records
  })
  return 0
}

function resolveRecords(
  request: NameRequest,
  syscall: string,
  name: string,
  type: RecordType,
): number {
  void respond(request, syscall, name, () => findRecords(name, type), type === "SOA")
  return 0
}

async function respond(
  request: NameRequest,
  syscall: string,
  name: string,
  find: () => Promise<readonly unknown[]>,
  /** Whether the result is the first of what was found. */
  isSingle = false,
): Promise<void> {
  try {
    const found = await find()
    if (found.length === 0)
      throw toSocketError("ENOTFOUND", `Cannot look up "${name}": it has no such address`)
    request.oncomplete(0, isSingle ? found[0] : found)
  } catch (thrown) {
    const error = thrown as SocketError
    error.syscall = syscall
    error.hostname = name
    if (request.reject !== undefined) request.reject(error)
    else request.callback?.(error)
  }
}
