import { ConfigError } from "../config/config.ts"
import { AppError } from "../domain/app-error.ts"

/** Prints one sentence for an error that the operator can fix. Throws a bug, with its stack. */
export function fail(command: string, error: unknown): never {
  if (error instanceof AppError || error instanceof ConfigError)
    process.stderr.write(`${error.message}\n`)
  else if (isOfMachine(error)) process.stderr.write(`Cannot ${command}: ${error.message}\n`)
  else throw error
  process.exit(1)
}

/** The disk is full or read-only, or a resource of the machine ran out. The message names the file. */
function isOfMachine(error: unknown): error is Error {
  return (
    error instanceof Error &&
    "code" in error &&
    /^(ENOSPC|EDQUOT|EROFS|EACCES|EPERM|EIO|EMFILE|ENFILE|ENOMEM|EAGAIN)$/.test(String(error.code))
  )
}
