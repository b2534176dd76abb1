import { errorToJson, sendLog, sendTail, sendUncaught } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { bare, ResponseCtor } from "../primordials.ts"
import { type ErrorText, failureHeader } from "../protocol.ts"
import { currentRun, type Run } from "./runs.ts"

/**
 * Uncaught errors fail their run instead of ending the process. Listens before the val can, so that
 * the val cannot hide one.
 */
export function catchUncaughtErrors(): void {
  addEventListener("error", (event) => {
    event.preventDefault()
    // An error without a value comes from a worker that could not clone it.
    failCurrentRun(event.error ?? event.message)
  })
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault()
    failCurrentRun(event.reason)
  })
}

/** Fails the current run with an uncaught error. */
export function failCurrentRun(thrown: unknown): void {
  const run = currentRun()
  if (run !== undefined) failRun(run, thrown)
}

/**
 * Fails a run, and ends its response if it is still pending. The first error is the run's; later
 * ones become log lines.
 */
export function failRun(run: Run, thrown: unknown): void {
  // An exit reports its error before it throws the same one.
  if (run.failure !== undefined && run.failure.thrown === thrown) return
  const error = toErrorText(thrown)
  if (run.failure === undefined) {
    run.failure = { thrown, error }
    sendUncaught(run, error)
  } else {
    sendLog(run, "error", `Uncaught ${error.stack ?? `${error.name}: ${error.message}`}`)
  }
  run.end?.(toFailure(run, run.failure.error))
}

const failureInit = bare({
  status: 500,
  headers: bare({ [failureHeader]: "1", "content-type": "application/json" }),
})

/** The response that reports a failed run. */
export function toFailure(run: Run, error: ErrorText): Response {
  sendTail(run)
  return new ResponseCtor(`{"error":${errorToJson(error)},"logCount":${run.logCount}}`, failureInit)
}
