import { quote, send } from "../control/outbox.ts"
import { limits } from "../limits.ts"
import {
  bare,
  headersForEach,
  ResponseCtor,
  responseHeaders,
  responseStatus,
  toBase64,
} from "../primordials.ts"
import { closeRun, type Run } from "../runs/runs.ts"
import { readBody } from "./read-body.ts"

/**
 * Handles an ordinary response to an upgrade request: reports it to the host, and refuses the
 * WebSocket with its status.
 */
export async function refuseUpgrade(run: Run, response: Response): Promise<Response> {
  const status = responseStatus(response)
  const { bytes } = await readBody(response, limits.refusedBodyBytesMax)
  let headers = ""
  headersForEach(responseHeaders(response), (value, name) => {
    headers += `${headers === "" ? "" : ","}[${quote(name)},${quote(value)}]`
  })
  send(
    `{"kind":"refused","run":${quote(run.id)},"status":${status},"headers":[${headers}],"body":"${toBase64(bytes)}"}`,
  )
  closeRun(run)
  return new ResponseCtor(null, bare({ status: status >= 200 ? status : 500 }))
}
