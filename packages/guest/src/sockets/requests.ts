import { quote } from "../control/outbox.ts"
import { runTag } from "../globals/egress.ts"
import {
  arrayIncludes,
  bytesSet,
  bytesSubarray,
  decodeText,
  ErrorCtor,
  encodeText,
  jsonParse,
} from "../primordials.ts"
import type { DnsRecord, RecordType, SocketErrorCode, SocketReply } from "../protocol.ts"
import { closedCodes, triesMax, untilNextTry } from "./closed-socket.ts"

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
  const { message } = toRefusal(reply, "ENOTFOUND", `Cannot look up "${name}"`)
  throw toSocketError("ENOTFOUND", message)
}

/** Asks for other records of a name, in the form of `node:dns`. */
export async function findRecords(name: string, type: RecordType): Promise<readonly DnsRecord[]> {
  const { connection, reply } = await ask(
    toFrame(`{"kind":"records","host":${quote(name)},"type":"${type}","run":${quote(runTag())}}`),
  )
  connection.close()
  if (reply.kind === "records") return reply.records
  throw toRefusal(reply, "ENOTFOUND", `Cannot look up "${name}"`)
}

/** Opens a connection to a host. Returns it with the address that it leads to. */
export async function openConnection(host: string, port: number) {
  const { connection, reply } = await ask(toConnectFrame(host, undefined, port))
  if (reply.kind === "connected") return { connection, address: reply.address }
  connection.close()
  throw toRefusal(reply, "EINVAL", `Cannot connect to "${host}:${port}"`)
}

/** The error of a reply that is not the expected one: the reason of the host, if it gives one. */
export function toRefusal(reply: SocketReply, code: SocketErrorCode, message: string): SocketError {
  return reply.kind === "refused"
    ? toSocketError(reply.code, reply.message)
    : toSocketError(code, message)
}

async function ask(frame: Uint8Array) {
  const path = getSocketPath()
  for (let tries = 1; ; tries += 1)
    try {
      return await askOnce(path, frame)
    } catch (error) {
      if (tries < triesMax && arrayIncludes(closedCodes, (error as SocketError).code))
        await untilNextTry()
      else {
        // The process has too many files open, or the host has closed the connection.
        const refusal = toSocketError("EAGAIN", tooMany)
        refusal.cause = error
        throw refusal
      }
    }
}

async function askOnce(path: string, frame: Uint8Array) {
  const connection = await connectReal({ transport: "unix", path })
  try {
    for (let sent = 0; sent < frame.length; )
      sent += await connection.write(bytesSubarray(frame, sent))
    const length = await readExactly(connection, lengthBytes)
    const bytes = await readExactly(connection, toLength(length))
    return { connection, reply: parseReply(bytes) }
  } catch (error) {
    connection.close()
    throw error
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

/** Why a val cannot listen. */
export function toListenMessage(port: number): string {
  return `Cannot listen on port ${port}: a val has no ports of its own; requests to its web address reach the function that it exports, or that it passes to Deno.serve`
}

/** Why a val cannot use a Unix socket outside of its folder. */
export function toPathMessage(what: "connect to" | "listen on", path: string | undefined): string {
  return `Cannot ${what} "${path}": vals have Unix sockets in their own folder only; use a TCP connection`
}
