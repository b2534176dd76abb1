import { appendFileSync } from "node:fs"

/** Reports which tests did not run, and why. */
export function notRun(name: string, reason: string): void {
  process.stderr.write(`not run: ${name}: ${reason}\n`)
  const file = process.env.HAMLET_TEST_NOT_RUN
  if (file !== undefined) appendFileSync(file, `${name}: ${reason}\n`)
}
