import { readFileSync } from "node:fs"

/*
 * Loaded into a server before its own code: moves the clock by which it measures time ahead by the
 * milliseconds in a file, read again on each SIGUSR2. Its timers go on as usual.
 */

const now = performance.now.bind(performance)
let aheadMs = 0
performance.now = () => now() + aheadMs
process.on("SIGUSR2", () => {
  aheadMs = Number(readFileSync(process.env["CLOCK_FILE"] ?? "", "utf8"))
})
