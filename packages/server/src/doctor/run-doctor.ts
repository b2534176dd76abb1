import { examine } from "./doctor.ts"
import type { Finding, Status } from "./finding.ts"

/**
 * How the program ends, by the worst that it has found. The command line has the same numbers in
 * its table of exit codes.
 */
const exits: Readonly<Record<Status, number>> = { ok: 0, warning: 10, failure: 1 }

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/**
 * `doctor [--json] [settings]`: tells of each finding on standard output as it comes, and gives the
 * exit code.
 */
export async function runDoctor(args: readonly string[]): Promise<number> {
  const isJson = args.includes("--json")
  const flags = args.filter((arg) => arg !== "--json")
  let written: Promise<unknown> = Promise.resolve()
  const write = (finding: Finding) => {
    written = new Promise((resolve) =>
      process.stdout.write(isJson ? `${JSON.stringify(finding)}\n` : toLines(finding), resolve),
    )
  }
  const interruption = watchSignals()
  const worst = await examine(process.env, flags, write, interruption.signal)
  await written
  return interruption.signal.aborted ? Number(interruption.signal.reason) : exits[worst]
}

/**
 * The first signal lets the check that goes on be finished, because a sandbox may have to be ended;
 * the second does not.
 */
function watchSignals(): AbortController {
  const interruption = new AbortController()
  for (const [signal, exit] of Object.entries(signals))
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(exit)
      interruption.abort(exit)
    })
  return interruption
}

function toLines({ check, status, found, mend }: Finding): string {
  return `${status.padEnd(7)}  ${check}: ${found}\n${mend === null ? "" : `${" ".repeat(9)}${mend}\n`}`
}
