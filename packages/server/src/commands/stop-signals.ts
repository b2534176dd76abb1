import { readFileSync } from "node:fs"

const limits = {
  /**
   * One Ctrl-C can arrive twice, from the terminal and from a program that forwards it. Only a later
   * one is a second Ctrl-C.
   */
  interruptMs: 500,
}

/**
 * Calls `stop` once, at the first stop signal or when the launcher has died.
 *
 * A second Ctrl-C ends the process at once. A second SIGTERM does not: a service manager may send
 * one to every process of the service, and the launcher (`npm start`, `hamlet serve`) forwards every
 * signal as SIGTERM.
 */
export function watchStopSignals(stop: () => void): void {
  let hasBegun = false
  const begin = () => {
    if (!hasBegun) stop()
    hasBegun = true
  }
  let interruptedMs: number | undefined
  process.on("SIGINT", () => {
    begin()
    const nowMs = performance.now()
    interruptedMs ??= nowMs
    if (nowMs - interruptedMs > limits.interruptMs) process.exit(130)
  })
  process.on("SIGTERM", begin)
  if (!isHangupIgnored()) process.on("SIGHUP", begin)
  // Only a launcher has an IPC channel. A server that was started directly outlives its parent.
  if (process.connected) process.on("disconnect", begin)
}

/** Whether nohup started the server: a handler would undo it. Known on Linux only. */
function isHangupIgnored(): boolean {
  try {
    const [, ignored = "0"] =
      /^SigIgn:\s+(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
    return (BigInt(`0x${ignored}`) & 1n) === 1n
  } catch {
    return false
  }
}
