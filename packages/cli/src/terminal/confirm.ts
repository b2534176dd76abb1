import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { askYes, canAsk } from "./ask.ts"

/** Whether to ask before something is gone. */
export interface ConfirmOptions {
  readonly yes?: true
}

/** Declares the option that answers beforehand. */
export function addConfirmOption(command: Command): Command {
  return command.option("-y, --yes", "do not ask")
}

/**
 * Goes on when somebody has said yes. Where nobody can be asked, that has to be on the command
 * line.
 */
export async function confirm(question: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes) return
  if (!canAsk())
    throw new CliError("usage", "Cannot delete without asking: there is no terminal", {
      advice: '"--yes" answers beforehand',
    })
  if (!(await askYes(question))) throw new CliError("failed", "Nothing was done")
}
