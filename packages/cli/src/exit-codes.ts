import type { ApiError } from "@hamlet/contract/client"

/** The exit codes. Scripts branch on the number; docs/cli.md is generated from this table. */
export const exitCodes = {
  ok: { exit: 0, meaning: "Success." },
  failed: { exit: 1, meaning: "A failure without an exit code of its own." },
  usage: {
    exit: 2,
    meaning: "The command line is invalid, or a value in it is not acceptable.",
  },
  refused: { exit: 3, meaning: "Not signed in, or the token lacks permission." },
  notFound: {
    exit: 4,
    meaning: "The val, version, run, user, token, secret or file does not exist.",
  },
  conflict: {
    exit: 5,
    meaning:
      "Conflict: the name is taken, the val has a newer version, or a file has local changes.",
  },
  unavailable: { exit: 6, meaning: "The server does not respond, or is overloaded." },
  valFailed: { exit: 7, meaning: "The val ran and failed." },
  valTimedOut: { exit: 8, meaning: "The val exceeded its time limit." },
  valCancelled: { exit: 9, meaning: "The run was cancelled." },
  warned: {
    exit: 10,
    meaning: "`hamlet doctor` found warnings, but no failures.",
  },
  hungUp: { exit: 129, meaning: "The terminal was closed." },
  interrupted: { exit: 130, meaning: "Ctrl-C." },
  brokenPipe: { exit: 141, meaning: "The reader of the output closed the pipe." },
  terminated: { exit: 143, meaning: "The program was terminated (SIGTERM)." },
} as const satisfies Record<string, { exit: number; meaning: string }>

/** The name of an exit code. */
export type ExitName = keyof typeof exitCodes

/** The exit code for an error that the API responded with. */
export function toExitName({ status, code }: ApiError): ExitName {
  if (code === "invalid_request" || code === "invalid_json") return "usage"
  if (code === "run_failed") return "valFailed"
  if (code === "run_timed_out") return "valTimedOut"
  if (status === 401 || status === 403) return "refused"
  if (status === 404) return "notFound"
  if (status === 409 || status === 412) return "conflict"
  if (status === 429 || status === 503) return "unavailable"
  return "failed"
}
