import type { HeaderList } from "../../../domain/runs/runner.ts"
import type { RequestHead } from "./request-head.ts"

/** What of the headers of a request goes out, or of an answer comes in. */
export function passHeaders(headers: HeaderList): HeaderList {
  const named = readNamed(headers)
  const passed: HeaderList[number][] = []
  // One of the places that every request comes through, twice: taking the pairs apart as a list
  // costs more than all the rest.
  for (const header of headers)
    if (!isDropped(header[0]) && !named?.has(header[0])) passed.push(header)
  return passed
}

/**
 * Whether a request asks for a WebSocket. Nothing else that a connection could become is passed on.
 */
export function isUpgrade({ method, framing, headers }: RequestHead): boolean {
  return method === "GET" && framing === 0 && isToSocket(headers)
}

/** Whether that is what the headers say. */
export function isToSocket(headers: HeaderList): boolean {
  return hasUpgrade(headers) && readNamed(headers)?.has("upgrade") === true
}

function hasUpgrade(headers: HeaderList): boolean {
  let count = 0
  for (const header of headers)
    if (header[0] === "upgrade") count += header[1].toLowerCase() === "websocket" ? 1 : 2
  return count === 1
}

/**
 * What is between two neighbours on the way, or for the one to say who sends the message. What
 * begins with our own prefix is for nobody else to say: the depth of a call, the run of a request,
 * that it was blocked. The names are new strings, and a Set would have to hash each of them.
 */
function isDropped(name: string): boolean {
  switch (name[0]) {
    case "c":
      return name === "connection" || name === "content-length"
    case "e":
      return name === "expect"
    case "h":
      return name === "host" || name === "http2-settings"
    case "k":
      return name === "keep-alive"
    case "p":
      return name.startsWith("proxy-")
    case "t":
      return name === "te" || name === "trailer" || name === "transfer-encoding"
    case "u":
      return name === "upgrade"
    case "x":
      return name.startsWith("x-hamlet-")
    default:
      return false
  }
}

/** Headers that `Connection` names are meant for the next hop only. */
function readNamed(headers: HeaderList): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined
  for (const header of headers) {
    if (header[0] !== "connection") continue
    named ??= new Set()
    for (const part of header[1].split(",")) named.add(part.trim().toLowerCase())
  }
  return named
}
