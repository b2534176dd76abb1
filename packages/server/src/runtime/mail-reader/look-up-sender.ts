import { randomInt } from "node:crypto"
import { createSocket } from "node:dgram"
import { promises as dns } from "node:dns"
import { connect } from "node:net"
import { withinTime } from "@hamlet/kit"
import {
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
  streamDecode,
  streamEncode,
} from "dns-packet"
import { dmarc } from "mailauth/lib/dmarc"
import { spf } from "mailauth/lib/spf"
import type { MailConnection } from "../../domain/mail/inbound/mail.ts"
import {
  type ResolveName,
  recordNames,
  type SenderFindings,
  type SenderNames,
  toDnsError,
} from "./sender-records.ts"

const limits = {
  /** The time limit of one query, and of all queries for one message. */
  queryMsMax: 4_000,
  allMsMax: 12_000,
  /** SPF and DMARC allow about 30 queries, and each signature adds some. */
  queriesMax: 100,
  nameCharsMax: 253,
  serversMax: 3,
  /** A larger response comes over TCP. */
  udpBytesMax: 1_232,
  tcpBytesMax: 65_535 + 2,
}

/** A sender that name servers are asked about. */
export interface LookupJob {
  readonly connection: MailConnection
  readonly names: SenderNames
  /** The name of this server. */
  readonly serverName: string
  /** Name servers; undefined for those of the machine. */
  readonly nameServers: readonly string[] | undefined
}

/**
 * Checks SPF, and finds the records that the checks of DKIM and DMARC need. It is done before the
 * message is read, since the process that reads it has no network. Which signatures are valid is
 * not known yet, so this asks about all of them.
 */
export async function lookUpSender(job: LookupJob): Promise<SenderFindings> {
  const { connection, names, serverName, nameServers } = job
  const resolver = createNameResolver(nameServers)
  const recorded = recordNames(resolver)
  const { address: ip, helo, mailFrom: sender } = connection
  const [sent] = await Promise.all([
    spf({ resolver, ip, helo, sender, mta: serverName }),
    // What is wrong with a key is recorded.
    ...names.keyNames.map((name) => recorded(name, "TXT").catch(() => {})),
  ])
  const { result } = sent.status
  const domain = result === "pass" ? (sent.domain ?? "") : ""
  await dmarc({
    resolver: recorded,
    headerFrom: [...names.headerFrom],
    spfDomains: domain === "" ? [] : [domain],
    dkimDomains: names.signingDomains.map((signing) => ({ domain: signing })),
  })
  return { spf: { result, domain }, records: recorded.list() }
}

/**
 * A resolver for one message. The sender chooses the names, so neither their number nor slow name
 * servers may hold up the thread.
 */
function createNameResolver(servers: readonly string[] | undefined): ResolveName {
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

/** A name server. */
interface NameServerAddress {
  readonly host: string
  readonly port: number
}

/**
 * The TXT records of a name, each with its parts. Errors have the codes of `node:dns`.
 *
 * Bun's `resolveTxt` returns each part as a record of its own. A key of DKIM has several parts, and
 * a policy of SPF may have, so that neither could be put together again.
 */
async function resolveText(
  name: string,
  server: NameServerAddress,
  signal: AbortSignal,
): Promise<string[][]> {
  const query: Packet = {
    type: "query",
    id: randomInt(0x10000),
    flags: RECURSION_DESIRED,
    questions: [{ type: "TXT", name, class: "IN" }],
    additionals: [
      {
        type: "OPT",
        name: ".",
        udpPayloadSize: limits.udpBytesMax,
        flags: 0,
        options: [],
        extendedRcode: 0,
        ednsVersion: 0,
        flag_do: false,
      },
    ],
  }
  const short = await askOverUdp(query, server, signal)
  const response = short.flag_tc ? await askOverTcp(query, server, signal) : short
  if (response.rcode === "NXDOMAIN") throw toDnsError("ENOTFOUND")
  if (response.rcode !== "NOERROR") throw toDnsError("ESERVFAIL")
  const records = (response.answers ?? []).flatMap((answer) =>
    answer.type === "TXT" ? [[answer.data].flat().map((part) => part.toString())] : [],
  )
  if (records.length === 0) throw toDnsError("ENODATA")
  return records
}

type Response = Packet & { readonly rcode?: string; readonly flag_tc?: boolean }

/** From a port of its own and with a number of its own, so that no other host can answer. */
function askOverUdp(
  query: Packet,
  server: NameServerAddress,
  signal: AbortSignal,
): Promise<Response> {
  const socket = createSocket(server.host.includes(":") ? "udp6" : "udp4")
  return untilAnswered(
    signal,
    () => socket.close(),
    (resolve, fail) => {
      socket.once("error", () => fail("ECONNREFUSED"))
      socket.on("message", (bytes) => {
        const response = toResponse(query, () => decode(bytes))
        if (response) resolve(response)
      })
      // Connected, so that only this server can answer.
      socket.connect(server.port, server.host, () => socket.send(encode(query)))
    },
  )
}

function askOverTcp(
  query: Packet,
  server: NameServerAddress,
  signal: AbortSignal,
): Promise<Response> {
  const socket = connect(server.port, server.host, () => socket.write(streamEncode(query)))
  let received = Buffer.alloc(0)
  return untilAnswered(
    signal,
    () => socket.destroy(),
    (resolve, fail) => {
      socket.on("error", () => fail("ECONNREFUSED"))
      socket.on("end", () => fail("EBADRESP"))
      socket.on("data", (bytes: Buffer) => {
        received = Buffer.concat([received, bytes])
        if (received.length > limits.tcpBytesMax) fail("EBADRESP")
        else if (received.length >= 2 && received.length >= received.readUInt16BE(0) + 2) {
          const response = toResponse(query, () => streamDecode(received))
          if (response) resolve(response)
          else fail("EBADRESP")
        }
      })
    },
  )
}

/** Waits for a response, a failure or the end of the time, and closes the socket then. */
async function untilAnswered(
  signal: AbortSignal,
  close: () => void,
  begin: (resolve: (response: Response) => void, fail: (code: string) => void) => void,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const onAbort = () => reject(toDnsError("ETIMEOUT"))
  signal.addEventListener("abort", onAbort)
  try {
    begin(resolve, (code) => reject(toDnsError(code)))
    return await promise
  } finally {
    signal.removeEventListener("abort", onAbort)
    close()
  }
}

/** Undefined for bytes that are no response to the query. */
function toResponse(query: Packet, read: () => Packet): Response | undefined {
  try {
    const response = read()
    const [asked] = response.questions ?? []
    const isOurs =
      response.id === query.id &&
      response.type === "response" &&
      asked?.name.toLowerCase() === query.questions?.[0]?.name.toLowerCase()
    return isOurs ? response : undefined
  } catch {
    return undefined
  }
}
