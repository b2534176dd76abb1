// The command line as a program that answers calls of tests.
import { answerCalls } from "../../../../scripts/testing/program-calls.ts"
import { exitCodes } from "../../src/exit-codes.ts"
import { watchInterruption } from "../../src/interruption.ts"
import { runCommandLine } from "../../src/run-command-line.ts"
import { openStreams } from "../../src/streams.ts"

const streams = openStreams()
const interruption = watchInterruption()

answerCalls(async (args) => {
  const exit = await runCommandLine(args, { streams, interruption })
  await streams.flush()
  return exitCodes[exit].exit
})
