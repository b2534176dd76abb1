import { ApiError } from "@hamlet/contract/client"
import type { Context } from "../context.ts"
import type { ExitName } from "../exit-codes.ts"
import { limits } from "../limits.ts"
import type { Connection } from "../servers/connection.ts"
import { writeLogAside } from "./log-lines.ts"
import { exitByStatus, getEndedRun, type RunDetail, toRunVal } from "./runs.ts"

/**
 * Starts a run and sees it through: logs to standard error while it goes on, what it returns alone
 * on standard output.
 */
export async function waitForRun(
  context: Context,
  connection: Connection,
  start: () => Promise<RunDetail>,
): Promise<ExitName> {
  const starting = startWhenReady(context, start)
  // Whoever presses Ctrl-C wants the val to stop, and not only to hear no more of it.
  const forget = context.interruption.onEnd(async () => {
    const { id } = await starting
    const { found } = await connection.client.cancelRun({ run_id: id })
    if (found) context.output.note(`Cancelled run ${id}`)
  })
  const { id } = await starting
  for await (const event of connection.client.follow({ run_id: id }))
    if (event.kind === "log") writeLogAside(context.output, event.line)
  const run = await getEndedRun(connection.client, id)
  forget()
  return printOutcome(context, run)
}

/**
 * Packages that a val imports are fetched once, after it was saved; whoever runs it before that
 * waits for them.
 */
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
      if (attempt === 0) output.note("What the val imports is still being fetched …")
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
  output.errorText(
    `Cannot finish ${toRunVal(run)}: it ${verbs[run.status]}${reason}; "hamlet run show ${run.id}" tells more\n`,
  )
  for (const line of run.error?.stack?.split("\n") ?? [])
    if (/^\s+at /.test(line)) output.errorText(`${line}\n`, errorColour.dim)
  return exitByStatus[run.status]
}

const verbs: Readonly<Record<RunDetail["status"], string>> = {
  queued: "has not begun",
  running: "goes on",
  succeeded: "succeeded",
  failed: "failed",
  timed_out: "took too long",
  cancelled: "was cancelled",
  crashed: "crashed",
}

/** A text as it is, everything else as JSON; nothing for a val that returned nothing. */
function toValueText(value: unknown, isHuman: boolean): string {
  if (value === undefined || value === null) return ""
  if (typeof value === "string") return value.endsWith("\n") ? value : `${value}\n`
  return `${JSON.stringify(value, undefined, isHuman ? 2 : undefined)}\n`
}
