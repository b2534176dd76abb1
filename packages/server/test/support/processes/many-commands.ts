// The commands of the server as a program that answers calls of tests.
import { answerCalls } from "../../../../../scripts/testing/program-calls.ts"
import { runCommand } from "../../../src/commands/run-command.ts"

process.umask(0o022)
answerCalls(async (args) => {
  await runCommand(args)
  return 0
})
