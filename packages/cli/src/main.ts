import { exitCodes } from "./exit-codes.ts"
import { watchInterruption } from "./interruption.ts"
import { runCommandLine } from "./run-command-line.ts"
import { openStreams } from "./streams.ts"

const streams = openStreams()
const interruption = watchInterruption()
const exit = await runCommandLine(process.argv.slice(2), { streams, interruption })
await streams.flush()
// After Ctrl-C the signal handler exits with its own code; the outcome of the cancelled work is not
// reported.
if (interruption.isEnding()) await new Promise(() => {})
// Open keep-alive connections would keep the process running.
process.exit(exitCodes[exit].exit)
