import { objectKeys } from "../primordials.ts"
import type { DnsRecord, RecordType } from "../protocol.ts"

type Fields = Readonly<Record<string, string | number | undefined>>

/** A record of `node:dns` as `Deno.resolveDns` has it: other fields, and names end with a dot. */
export function toDenoRecord(type: RecordType, record: DnsRecord | undefined): unknown {
  if (typeof record === "string") return toFullName(record)
  return type === "TXT" ? record : converters[type]?.(record as unknown as Fields)
}

const converters: Readonly<Partial<Record<RecordType, (record: Fields) => unknown>>> = {
  CAA: toCaa,
  MX: ({ priority, exchange }) => ({ preference: priority, exchange: toFullName(exchange) }),
  NAPTR: ({ order, preference, flags, service, regexp, replacement }) => ({
    order,
    preference,
    flags,
    services: service,
    regexp,
    replacement: toFullName(replacement),
  }),
  SOA: ({ nsname, hostmaster, serial, refresh, retry, expire, minttl }) => ({
    mname: toFullName(nsname),
    rname: toFullName(hostmaster),
    serial,
    refresh,
    retry,
    expire,
    minimum: minttl,
  }),
  SRV: ({ priority, weight, port, name }) => ({
    priority,
    weight,
    port,
    target: toFullName(name),
  }),
}

/** In Node, the tag is the name of the field with the value. */
function toCaa(record: Fields): unknown {
  const keys = objectKeys(record)
  for (let index = 0; index < keys.length; index += 1) {
    const tag = keys[index] as string
    if (tag !== "critical") return { critical: record.critical !== 0, tag, value: record[tag] }
  }
  return { critical: record.critical !== 0, tag: "", value: "" }
}

function toFullName(name: string | number | undefined): string {
  return `${name}.`
}
