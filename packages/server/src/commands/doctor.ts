import { examine } from "../doctor/doctor.ts"
import type { Finding, Status } from "../doctor/finding.ts"

/** The exit code for the worst status. The command line documents the same codes. */
const exits: Readonly<Record<Status, number>> = { ok: 0, warning: 10, failure: 1 }

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** `doctor [--json] [settings]`: prints each finding as it comes. The exit code is the worst. */
export async function doctor(args: readonly string[]): Promise<never> {
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
  process.exit(interruption.signal.aborted ? Number(interruption.signal.reason) : exits[worst])
}

/**
 * The first signal lets the current check finish, so that its sandbox is removed. The second ends
 * at once.
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
