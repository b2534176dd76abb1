import type { ExitName } from "./exit-codes.ts"

/** Options of an error: its cause, and what the user can do about it. */
export interface CliErrorOptions extends ErrorOptions {
  /** Follows the message after a semicolon: `"hamlet login" signs you in`. */
  readonly advice?: string | undefined
}

/** An expected failure. `exit` sets the exit code, `message` is printed. */
export class CliError extends Error {
  override readonly name = "CliError"
  readonly exit: ExitName
  readonly advice: string | undefined

  constructor(exit: ExitName, message: string, options: CliErrorOptions = {}) {
    super(message, options)
    this.exit = exit
    this.advice = options.advice
  }
}
