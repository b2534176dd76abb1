import {
  type RecordType,
  recordTypes,
  type SocketReply,
  type SocketRequest,
  socketRequestBytesMax,
} from "@hamlet/guest/protocol"
import { parseJson, toOwnJson } from "@hamlet/kit"

const lengthBytes = 2

/** A request that has arrived completely, one that is incomplete, or what is wrong with it. */
export type ReadSocketRequest =
  | { readonly kind: "request"; readonly request: SocketRequest }
  | { readonly kind: "incomplete" }
  | { readonly kind: "invalid"; readonly reason: string }

/** Reads the frame with which a connection begins. */
export function readSocketRequest(bytes: Buffer): ReadSocketRequest {
  if (bytes.length < lengthBytes) return { kind: "incomplete" }
  const length = bytes.readUInt16BE(0)
  if (length > socketRequestBytesMax)
    return { kind: "invalid", reason: `it has more than ${socketRequestBytesMax} bytes` }
  const end = lengthBytes + length
  if (bytes.length < end) return { kind: "incomplete" }
  if (bytes.length > end) return { kind: "invalid", reason: "bytes follow before its reply" }
  const request = parse(bytes.toString("utf8", lengthBytes, end))
  return request ? { kind: "request", request } : { kind: "invalid", reason: "it is malformed" }
}

/** The frame of a reply. Its length must fit into two bytes. */
export function toReplyFrame(reply: SocketReply): Buffer {
  const json = Buffer.from(toOwnJson(reply))
  const frame = Buffer.allocUnsafe(lengthBytes + json.length)
  frame.writeUInt16BE(json.length, 0)
  json.copy(frame, lengthBytes)
  return frame
}

/** Everything from the sandbox may be forged, so each field is checked. */
function parse(text: string): SocketRequest | undefined {
  let value: unknown
  try {
    value = parseJson(text, socketRequestBytesMax)
  } catch {
    return undefined
  }
  if (typeof value !== "object" || value === null) return undefined
  const { kind, host, address, port, type, run } = value as Record<string, unknown>
  if (typeof host !== "string" || host === "" || typeof run !== "string") return undefined
  if (kind === "lookup") return { kind, host, run }
  if (kind === "records") return isRecordType(type) ? { kind, host, type, run } : undefined
  if (kind !== "connect" || !isPort(port)) return undefined
  if (address === undefined) return { kind, host, port, run }
  return typeof address === "string" ? { kind, host, address, port, run } : undefined
}

function isRecordType(value: unknown): value is RecordType {
  return recordTypes.some((type) => type === value)
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65_535
}
