import { dlopen } from "bun:ffi"

/**
 * Has the system end this process when the server does, even in the middle of a statement that never ends. Where that cannot be had, the limit
 * of its processor time ends such a process, and every other notices that nobody is left to ask it anything.
 */
export function endWithServer(serverPid: number): void {
  if (process.platform === "linux") libraries.some(askForSignal)
  // The server may have ended before the system knew.
  if (process.ppid !== serverPid) process.exit()
}

/** The C library of most systems, and of those with musl. */
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]

/** The numbers that Linux has for "signal me when my parent dies" and for the signal. */
const parentDeathSignal = 1
const killSignal = 9

function askForSignal(library: string): boolean {
  try {
    const { symbols, close } = dlopen(library, { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } })
    const result = symbols.prctl(parentDeathSignal, killSignal, 0, 0, 0)
    close()
    return result === 0
  } catch {
    return false
  }
}
