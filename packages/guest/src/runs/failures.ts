import { errorToJson, sendLog, sendUncaught } from "../control/outbox.ts"
import { toErrorText } from "../errors/error-text.ts"
import { bare, ResponseCtor } from "../primordials.ts"
import { type ErrorText, failureHeader } from "../protocol.ts"
import { currentRun, type Run } from "./runs.ts"

/**
 * Errors that nobody caught fail their run instead of ending the process. Listens before the val
 * can, so that it cannot keep one from us.
 */
export function catchUncaughtErrors(): void {
  addEventListener("error", (event) => {
    event.preventDefault()
    // An error without a value is what a worker could not pass on.
    failCurrentRun(event.error ?? event.message)
  })
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault()
    failCurrentRun(event.reason)
  })
}

/** The run that is being executed fails with an error that nobody caught. */
export function failCurrentRun(thrown: unknown): void {
  const run = currentRun()
  if (run !== undefined) failRun(run, thrown)
}

/**
 * The run fails; if its answer is waited for, that is the answer. The first error is the run's,
 * those that follow are lines of its log.
 */
export function failRun(run: Run, thrown: unknown): void {
  // An exit says that it failed before it throws the same error.
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

/** The answer that says that the run failed. */
export function toFailure(run: Run, error: ErrorText): Response {
  return new ResponseCtor(`{"error":${errorToJson(error)},"logCount":${run.logCount}}`, failureInit)
}
