import { sendTail } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { innerRequestOf } from "../internals.ts"
import { bare, PromiseCtor, ResponseCtor } from "../primordials.ts"
import { toFailure } from "../runs/failures.ts"
import { closeRun, inRun, openRun, type Run } from "../runs/runs.ts"
import type { Serving } from "../val/program.ts"
import { describeResponse } from "../values/describe-response.ts"
import { toReturned } from "../values/to-json.ts"
import { readArguments } from "./call-arguments.ts"

/** Calls the val with the arguments in the request body, or with the email in it. */
export async function handleCall(
  serving: Serving,
  request: Request,
  runId: string,
  isEmail: boolean,
): Promise<Response> {
  const run = openRun(runId)
  run.traceparent = innerRequestOf(request).header("traceparent")
  const response = await new PromiseCtor<Response>((resolve) => {
    run.end = resolve
    void call(serving, request, run, isEmail, resolve)
  })
  closeRun(run)
  return response
}

const jsonInit = bare({ headers: bare({ "content-type": "application/json" }) })

async function call(
  serving: Serving,
  request: Request,
  run: Run,
  isEmail: boolean,
  resolve: (response: Response) => void,
): Promise<void> {
  try {
    const args = await readArguments(request, isEmail)
    const value = await inRun(run, serving.program.call, args)
    const text = await inRun(run, toText, { value, bytesMax: serving.returnBytesMax })
    if (run.failure !== undefined) throw run.failure.thrown
    sendTail(run)
    resolve(new ResponseCtor(`${text},"logCount":${run.logCount}}`, jsonInit))
  } catch (thrown) {
    resolve(toFailure(run, run.failure?.error ?? toErrorText(thrown)))
  }
}

/**
 * The start of a `Returned`, up to its `logCount`: serialising the value may run code of the val,
 * which may log.
 */
async function toText({ value, bytesMax }: { value: unknown; bytesMax: number }): Promise<string> {
  const described =
    value instanceof ResponseCtor
      ? await describeResponse(value, bytesMax)
      : { value, isTruncated: false }
  const returned = toReturned(described.value, bytesMax)
  return `{"value":${returned.json},"isTruncated":${returned.isTruncated || described.isTruncated}`
}
