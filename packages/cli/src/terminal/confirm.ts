import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { askYes, canAsk } from "./ask.ts"

/** The option that skips the confirmation. */
export interface ConfirmOptions {
  readonly yes?: true
}

/** Adds the option that skips the confirmation. */
export function addConfirmOption(command: Command): Command {
  return command.option("-y, --yes", "skip the confirmation")
}

/** Continues if the user confirms. Without a terminal, `--yes` is required. */
export async function confirm(question: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes) return
  if (!canAsk())
    throw new CliError("usage", "Cannot ask for confirmation: there is no terminal", {
      advice: 'use "--yes" to skip it',
    })
  if (!(await askYes(question))) throw new CliError("failed", "Cancelled")
}
