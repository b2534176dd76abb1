import { randomInt } from "node:crypto"
import { createSocket } from "node:dgram"
import { connect } from "node:net"
import {
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
  streamDecode,
  streamEncode,
} from "dns-packet"
import { toDnsError } from "./sender-records.ts"

const limits = {
  /** A larger response comes over TCP. */
  udpBytesMax: 1_232,
  tcpBytesMax: 65_535 + 2,
}

/** A name server. */
export interface NameServerAddress {
  readonly host: string
  readonly port: number
}

/**
 * The TXT records of a name, each with its parts. Errors have the codes of `node:dns`.
 *
 * Bun's `resolveTxt` returns each part as a record of its own. A key of DKIM has several parts, and
 * a policy of SPF may have, so that neither could be put together again.
 */
export async function resolveText(
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
