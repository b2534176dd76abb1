import { findCheckoutFolder } from "../checkout/checkout-state.ts"
import { findTarget } from "../checkout/find-target.ts"
import { defineCommand, wholeNumber } from "../command.ts"
import { limits } from "../limits.ts"
import type { Output } from "../output/output.ts"
import { type LogLine, toClock, toPainted } from "../runs/log-lines.ts"
import { type RunWatcherDeps, showLatest, watchRuns } from "../runs/run-watcher.ts"
import { type Run, toRunVal } from "../runs/runs.ts"
import type { Connection } from "../servers/connection.ts"
import { toOneLine } from "../terminal/visible.ts"

export const command = defineCommand({
  description: `Shows the logs of the latest runs, oldest first, and the errors of failed runs. With --follow, also shows
every new run until Ctrl-C. In the folder of one val, those of that val.`,
  examples: [
    ["hamlet logs", "logs of the latest runs on your account"],
    ["hamlet logs -f", "follow new runs too"],
    ["hamlet logs -f hello -n 0", "follow only new runs of one val"],
    ["hamlet logs blog --file jobs/clean.ts", "logs of the runs of one file"],
  ],
  takes: {
    "[val]": "only runs of this val (default: that of the folder you are in)",
    "--all": "runs of all your vals, also in the folder of one",
    "--file <path>": "only runs of this file",
    "--branch <branch>": "only runs of this branch",
    "-f, --follow": "follow new runs",
    "-n, --runs <count>": {
      help: "number of latest runs to show first",
      parse: wholeNumber(0, 999),
      default: limits.latestRunsDefault,
    },
  },
  async run({ connect, output }, { val, all, file, branch, follow, runs }) {
    const connection = await connect()
    const isOwn = val === undefined && !all && findCheckoutFolder(".") !== undefined
    const text = isOwn ? "." : val
    const valId = text === undefined ? undefined : (await findTarget(connection, text)).val.id
    const deps = toWatcherDeps(connection, output, { valId, file, branch })
    if (follow) await watchRuns(deps, runs)
    else await showLatest(deps, runs)
  },
})

interface RunFilter {
  readonly valId: string | undefined
  readonly file: string | undefined
  readonly branch: string | undefined
}

/** The runs of a file or a branch. A run of code that is not saved has neither. */
async function* keepRuns(
  runs: AsyncIterable<Run>,
  { file, branch }: Omit<RunFilter, "valId">,
): AsyncGenerator<Run> {
  for await (const run of runs) {
    const isFile = file === undefined || run.file?.path === file
    if (isFile && (branch === undefined || run.branch?.name === branch)) yield run
  }
}

function toWatcherDeps(
  { client }: Connection,
  output: Output,
  { valId, ...place }: RunFilter,
): RunWatcherDeps {
  return {
    client,
    listRuns(since, count) {
      // Few of the listed runs may be of the file.
      const isFiltered = place.file !== undefined || place.branch !== undefined
      const query = { limit: isFiltered ? limits.pageItemsMax : count, since }
      const runs =
        valId === undefined
          ? client.items("listMyRuns", query)
          : client.items("listValRuns", { val_id: valId, ...query })
      return keepRuns(runs, place)
    },
    onLog: (run, line) => writeLogOf(output, run, line),
    onFailure: (run) => writeFailure(output, run),
    onProblem: (text) => output.note(text),
  }
}

function writeLogOf(output: Output, run: Run, line: LogLine): void {
  if (output.mode === "json") output.json({ run: run.id, val: toRunVal(run), ...line })
  else if (output.mode === "plain")
    output.line([line.at, toRunVal(run), run.id, line.level, toOneLine(line.message)].join("\t"))
  else
    output.line(
      `${output.colour.dim(toClock(line.at))}  ${output.colour.cyan(toRunVal(run))}  ${toPainted(output, line)}`,
    )
}

function writeFailure(output: Output, run: Run): void {
  const at = run.runEndAt ?? run.runStartAt
  const error = run.error ? `${run.error.name}: ${run.error.message}` : ""
  if (output.mode === "json")
    output.json({ run: run.id, val: toRunVal(run), at, status: run.status, error: run.error })
  else if (output.mode === "plain")
    output.line([at, toRunVal(run), run.id, run.status, toOneLine(error)].join("\t"))
  else {
    const { dim, cyan, red } = output.colour
    output.line(
      `${dim(toClock(at))}  ${cyan(toRunVal(run))}  ${red(output.toVisible(`${run.status} ${error}`))}  ${dim(run.id)}`,
    )
  }
}
