import type { HeaderList } from "../../../domain/runs/runner.ts"
import { hasNoBody, writeRequestHead } from "../../http1/write-request.ts"
import type { Target } from "../policy/target.ts"
import { isUpgrade } from "./headers.ts"
import type { RequestHead } from "./request-head.ts"
import type { SentRequest } from "./upstream.ts"

/**
 * The request as it goes out: to whom its address says, with its body framed anew. Undefined when
 * it cannot be written down.
 */
export function toSentRequest(
  from: RequestHead,
  { host, path }: Target,
  headers: HeaderList,
): SentRequest | undefined {
  const { method, framing } = from
  const hasBody = framing !== 0
  const isChunked = framing === "chunked"
  const isToUpgrade = isUpgrade(from)
  let lines = isChunked ? "transfer-encoding: chunked\r\n" : `content-length: ${framing}\r\n`
  if (isToUpgrade) lines = "connection: upgrade\r\nupgrade: websocket\r\n"
  else if (!hasBody && hasNoBody(method)) lines = ""
  const head = writeRequestHead({ method, host, path, headers }, lines)
  return head === undefined
    ? undefined
    : { method, head, isChunked, hasBody, isUpgrade: isToUpgrade }
}
