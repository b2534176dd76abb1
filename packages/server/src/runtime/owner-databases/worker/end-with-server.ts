import { openCLibrary } from "../../fairness/c-library.ts"

/** The numbers that Linux has for "signal me when my parent dies" and for the signal. */
const parentDeathSignal = 1
const killSignal = 9

/**
 * Has the system end this process when the server does, even in the middle of a statement that
 * never ends. Where that cannot be had, the limit of its processor time ends such a process, and
 * every other notices that nobody is left to ask it anything.
 */
export function endWithServer(serverPid: number): void {
  openCLibrary({ prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } })?.prctl(
    parentDeathSignal,
    killSignal,
    0,
    0,
    0,
  )
  // The server may have ended before the system knew.
  if (process.ppid !== serverPid) process.exit()
}
