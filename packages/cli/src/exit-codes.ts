/** How the program can end. Scripts branch on the number; docs/cli.md is made from this table. */
export const exitCodes = {
  ok: { exit: 0, meaning: "It worked." },
  failed: { exit: 1, meaning: "It did not work, for a reason that has no number of its own." },
  usage: {
    exit: 2,
    meaning: "The command line was not understood, or a value in it is not acceptable.",
  },
  refused: { exit: 3, meaning: "Not signed in, or the token may not do that." },
  notFound: {
    exit: 4,
    meaning: "There is no such val, version, run, user, token, secret or file.",
  },
  conflict: {
    exit: 5,
    meaning:
      "Things stand otherwise: the name is taken, the val has moved on, a file has changes of its own.",
  },
  unavailable: { exit: 6, meaning: "The server does not answer, or cannot do it at the moment." },
  valFailed: { exit: 7, meaning: "The val ran and failed." },
  valTimedOut: { exit: 8, meaning: "The val took longer than a run may." },
  valCancelled: { exit: 9, meaning: "Somebody cancelled the run." },
  warned: {
    exit: 10,
    meaning: "`hamlet doctor` has found something that one ought to know, and nothing worse.",
  },
  hungUp: { exit: 129, meaning: "The terminal was closed." },
  interrupted: { exit: 130, meaning: "Ctrl-C." },
  brokenPipe: { exit: 141, meaning: "Whoever read the output has stopped reading." },
  terminated: { exit: 143, meaning: "Somebody told the program to end." },
} as const satisfies Record<string, { exit: number; meaning: string }>

/** The name of one of the ways to end. */
export type ExitName = keyof typeof exitCodes
