import { ApiError } from "@hamlet/contract/client"
import type { Context } from "../context.ts"
import type { ExitName } from "../exit-codes.ts"
import { toSentence } from "../failure.ts"
import { limits } from "../limits.ts"
import type { Connection } from "../servers/connection.ts"
import { writeLogAside } from "./log-lines.ts"
import { exitByStatus, getEndedRun, type RunDetail, toRunVal } from "./runs.ts"

/**
 * Starts a run and waits for its end: logs go to standard error meanwhile, and only the return
 * value goes to standard output.
 */
export async function waitForRun(
  context: Context,
  connection: Connection,
  start: () => Promise<RunDetail>,
): Promise<ExitName> {
  const starting = startWhenReady(context, start)
  // Ctrl-C should stop the val, not only this program.
  const unregister = context.interruption.onEnd(async () => {
    const { id } = await starting
    const { found } = await connection.client.cancelRun({ run_id: id })
    if (found) context.output.note(`Cancelled run ${id}`)
  })
  const { id } = await starting
  for await (const event of connection.client.follow({ run_id: id }))
    if (event.kind === "log") writeLogAside(context.output, event.line)
  const run = await getEndedRun(connection.client, id)
  unregister()
  // The run may end before the response to its cancellation, which says all there is to say.
  if (context.interruption.isEnding()) return exitByStatus[run.status]
  return printOutcome(context, run)
}

/** Starts a run and prints its id. */
export async function startRun(
  { output }: Context,
  start: () => Promise<RunDetail>,
): Promise<undefined> {
  const run = await start()
  output.print({
    json: run,
    plain: run.id,
    human: `Started run ${run.id}; follow it with "hamlet run logs -f ${run.id}"`,
  })
}

/** The packages of a val are fetched once after it is saved; an earlier run waits for them. */
async function startWhenReady(
  { output }: Context,
  start: () => Promise<RunDetail>,
): Promise<RunDetail> {
  const deadlineMs = Date.now() + limits.packagesMsMax
  for (let attempt = 0; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      const isPending = error instanceof ApiError && error.code === "packages_pending"
      if (!isPending || Date.now() >= deadlineMs) throw error
      if (attempt === 0) output.note("Waiting for the packages of the val …")
      await Bun.sleep(error.retryAfterMs ?? limits.followPollMs)
    }
  }
}

function printOutcome({ output }: Context, run: RunDetail): ExitName {
  if (output.mode === "json") output.json(run)
  else if (run.status === "succeeded")
    output.text(toValueText(run.returnValue, output.mode === "human"))
  if (run.status === "succeeded") return "ok"
  const { errorColour } = output
  const reason = run.error ? `: ${run.error.name}: ${run.error.message}` : ""
  const problem = `Cannot finish ${toRunVal(run)}: it ${verbs[run.status]}${reason}`
  output.errorText(`${toSentence(problem, `see "hamlet run show ${run.id}"`)}\n`)
  for (const line of run.error?.stack?.split("\n") ?? [])
    if (/^\s+at /.test(line)) output.errorText(`${line}\n`, errorColour.dim)
  return exitByStatus[run.status]
}

const verbs: Readonly<Record<RunDetail["status"], string>> = {
  queued: "has not started",
  running: "is still running",
  succeeded: "succeeded",
  failed: "failed",
  timed_out: "timed out",
  cancelled: "was cancelled",
  crashed: "crashed",
}

/** Strings as they are, other values as JSON; nothing for undefined and null. */
function toValueText(value: unknown, isHuman: boolean): string {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return value.endsWith("\n") ? value : `${value}\n`
  return `${JSON.stringify(value, undefined, isHuman ? 2 : undefined)}\n`
}
