import type { ExitName } from "./exit-codes.ts"

/** What a person can do about a failure, and what is behind it. */
export interface CliErrorOptions extends ErrorOptions {
  /** Completes the sentence: `"hamlet login" signs you in`. */
  readonly advice?: string | undefined
}

/** A failure we expect. `exit` is how the program ends, `message` is what the person reads. */
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
