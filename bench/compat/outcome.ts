import type { PackageCase } from "./package-case.ts"

/** What came of a case: nothing if it worked, else the reason. */
export type Failure = string | undefined

/** A place where cases run: plain Deno, or vals. */
export interface Host {
  /** Runs a case and returns why it failed. */
  runPackage(useCase: PackageCase): Promise<Failure>
  /** Runs the checks of a module, and returns for each why it failed. */
  runChecks(code: string, count: number): Promise<readonly Failure[]>
}

const reasonCharsMax = 300

/** Compares what a module returned with what it should return. */
export function compare({ returns }: PackageCase, value: unknown): Failure {
  const isEqual =
    returns instanceof RegExp ? returns.test(String(value)) : Bun.deepEquals(value, returns)
  return isEqual ? undefined : `it returned ${JSON.stringify(value)?.slice(0, reasonCharsMax)}`
}

/** Compares the response of a module that is a server with the expected one. */
export function compareResponse({ responds }: PackageCase, status: number, text: string): Failure {
  if (status === 200 && text === responds) return undefined
  return `it responded ${status} ${text.slice(0, reasonCharsMax)}`
}

/** A reason in one line, without what differs from run to run. */
export function toLine(reason: string): string {
  return reason
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\b(localhost|127\.0\.0\.1):\d+/g, "$1:PORT")
    .slice(0, reasonCharsMax)
    .trim()
}

/**
 * What must not be in a message to the author of a val: advice for the command line of Deno, which
 * the author cannot follow, and paths of the sandbox, which mean nothing to the author.
 */
const unclear = /--allow-|--unstable|Requires \w+ access|\.sock\b|\/run\/|hamlet-\w+\//

/** Whether the author of a val can make sense of a reason. */
export function isClear(reason: string): boolean {
  return !unclear.test(reason)
}
