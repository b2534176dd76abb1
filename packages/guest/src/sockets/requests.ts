import { quote } from "../control/outbox.ts"
import { runTag } from "../globals/egress.ts"
import {
  bytesSet,
  bytesSubarray,
  decodeText,
  ErrorCtor,
  encodeText,
  jsonParse,
} from "../primordials.ts"
import type { DnsRecord, RecordType, SocketErrorCode, SocketReply } from "../protocol.ts"

const lengthBytes = 2
const connectReal = Deno.connect

let socketPath: string | undefined

/** Sets the Unix socket at which the host accepts connections; undefined if there is no network. */
export function setSocketPath(path: string | undefined): void {
  socketPath = path
}

/** The path, or an error that says why there is none. */
export function getSocketPath(): string {
  if (socketPath !== undefined) return socketPath
  throw toSocketError(
    "EACCES",
    "Cannot open a socket: this server isolates vals with Deno's permissions only, so vals have no network; its operator can install bubblewrap",
  )
}

/** The error of a refused connection, as Node's code has it. */
export type SocketError = Error & { code: SocketErrorCode; syscall?: string; hostname?: string }

export function toSocketError(code: SocketErrorCode, message: string): SocketError {
  const error = new ErrorCtor(message) as SocketError
  error.code = code
  return error
}

/** The frame that asks for a connection. */
export function toConnectFrame(
  host: string,
  address: string | undefined,
  port: number,
): Uint8Array {
  const chosen = address === undefined ? "" : `,"address":${quote(address)}`
  return toFrame(
    `{"kind":"connect","host":${quote(host)}${chosen},"port":${port},"run":${quote(runTag())}}`,
  )
}

/** Parses a reply without its length. */
export function parseReply(bytes: Uint8Array): SocketReply {
  return jsonParse(decodeText(bytes)) as SocketReply
}

/** Asks for the addresses of a name. */
export async function lookUp(name: string): Promise<readonly string[]> {
  const { connection, reply } = await ask(
    toFrame(`{"kind":"lookup","host":${quote(name)},"run":${quote(runTag())}}`),
  )
  connection.close()
  if (reply.kind === "found") return reply.addresses
  throw toSocketError(
    "ENOTFOUND",
    reply.kind === "refused" ? reply.message : `Cannot look up "${name}"`,
  )
}

/** Asks for other records of a name, in the form of `node:dns`. */
export async function findRecords(name: string, type: RecordType): Promise<readonly DnsRecord[]> {
  const { connection, reply } = await ask(
    toFrame(`{"kind":"records","host":${quote(name)},"type":"${type}","run":${quote(runTag())}}`),
  )
  connection.close()
  if (reply.kind === "records") return reply.records
  const isRefused = reply.kind === "refused"
  throw toSocketError(
    isRefused ? reply.code : "ENOTFOUND",
    isRefused ? reply.message : `Cannot look up "${name}"`,
  )
}

interface OpenedConnection {
  readonly connection: Deno.UnixConn
  /** The address that it leads to. */
  readonly address: string
}

/** Opens a connection to a host. */
export async function openConnection(host: string, port: number): Promise<OpenedConnection> {
  const { connection, reply } = await ask(toConnectFrame(host, undefined, port))
  if (reply.kind === "connected") return { connection, address: reply.address }
  connection.close()
  const isRefused = reply.kind === "refused"
  throw toSocketError(
    isRefused ? reply.code : "EINVAL",
    isRefused ? reply.message : `Cannot connect to "${host}:${port}"`,
  )
}

async function ask(
  frame: Uint8Array,
): Promise<{ readonly connection: Deno.UnixConn; readonly reply: SocketReply }> {
  const path = getSocketPath()
  let connection: Deno.UnixConn | undefined
  try {
    connection = await connectReal({ transport: "unix", path })
    for (let sent = 0; sent < frame.length; )
      sent += await connection.write(bytesSubarray(frame, sent))
    const length = await readExactly(connection, lengthBytes)
    const bytes = await readExactly(connection, toLength(length))
    return { connection, reply: parseReply(bytes) }
  } catch (error) {
    connection?.close()
    // The process has too many files open, or the host has closed the connection.
    const refusal = toSocketError("EAGAIN", tooMany)
    refusal.cause = error
    throw refusal
  }
}

/** The length in the first two bytes of a frame. */
export function toLength(bytes: Uint8Array): number {
  return (bytes[0] as number) * 256 + (bytes[1] as number)
}

/** Reads not one byte more: what follows belongs to the val. */
async function readExactly(connection: Deno.UnixConn, count: number): Promise<Uint8Array> {
  const bytes = new Uint8ArrayCtor(count)
  for (let filled = 0; filled < count; ) {
    const length = await connection.read(bytesSubarray(bytes, filled))
    if (length === null) throw new ErrorCtor("the host has closed the connection")
    filled += length
  }
  return bytes
}

/** Otherwise the host replies, and a process has enough files. */
export const tooMany = "Cannot open a socket: the val opens too many at once"

const Uint8ArrayCtor = Uint8Array

function toFrame(json: string): Uint8Array {
  const bytes = encodeText(json)
  const frame = new Uint8ArrayCtor(lengthBytes + bytes.length)
  frame[0] = bytes.length >> 8
  frame[1] = bytes.length & 255
  bytesSet(frame, bytes, lengthBytes)
  return frame
}
