import type { Caller } from "../../access.ts"
import type { ValMention } from "../../vals/comments.ts"
import type { LogLine, RunDeps } from "../runs.ts"

/** A log line with its run and its val. */
export interface AccountLog {
  readonly runId: string
  readonly val: ValMention
  readonly line: LogLine
}

const limits = { runsMax: 20, linesMax: 1_000 }

/** The log lines of the latest runs on the caller's account, the oldest first. */
export async function listLatestLogs(
  { runs }: RunDeps,
  { userId }: Caller,
): Promise<readonly AccountLog[]> {
  const filter = { error: undefined, sources: undefined, since: undefined, until: undefined }
  const page = { limit: limits.runsMax, offset: 0 }
  const { items } = await runs.listOfAccount(userId, filter, page)
  // A run without a last line has logged nothing.
  const logged = items.filter(({ lastLine }) => lastLine !== null)
  const found = await Promise.all(logged.map(({ id }) => runs.find(userId, id)))
  return found
    .flatMap((run) => run?.logs.map((line) => ({ runId: run.id, val: run.val, line })) ?? [])
    .sort((one, other) => (one.line.at < other.line.at ? -1 : one.line.at > other.line.at ? 1 : 0))
    .slice(-limits.linesMax)
}
