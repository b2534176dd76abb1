import type { ResponseHead } from "../../http1/response-head.ts"
import { passHeaders } from "./headers.ts"

/** The head of an answer as the sandbox gets it. */
export interface AnswerLines {
  readonly text: string
  /** Whether the body follows in chunks. */
  readonly isChunked: boolean
}

/** What Deno knows of an answer beside its headers is the status: the words behind it are ours. */
export function toAnswerLines(
  { status, headers, framing }: ResponseHead,
  method: string,
): AnswerLines {
  const isSocket = status === 101
  const isBodiless = isSocket || method === "HEAD" || status === 204 || status === 304
  const isChunked = !isBodiless && typeof framing !== "number"
  let text = `HTTP/1.1 ${status} \r\n`
  for (const header of passHeaders(headers)) text += `${header[0]}: ${header[1]}\r\n`
  if (isSocket) text += "connection: upgrade\r\nupgrade: websocket\r\n"
  else if (isChunked) text += "transfer-encoding: chunked\r\n"
  // A HEAD is answered with the length that a GET would have.
  else if (typeof framing === "number" && (!isBodiless || (method === "HEAD" && framing > 0)))
    text += `content-length: ${framing}\r\n`
  return { text: `${text}\r\n`, isChunked }
}
