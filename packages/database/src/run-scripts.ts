import type { LastStep, Script } from "./database.ts"
import type { Statement } from "./sql.ts"

/** Runs a statement. Returns its rows, or a promise where there is something to wait for. */
export type RunStatement = (statement: Statement) => unknown

/**
 * Runs the scripts that share a transaction, one after the other. `runLast` runs the last steps that
 * they have deferred. The channels that their statements name are added to `notices`.
 */
export function runScripts(run: RunStatement, notices: Set<string>) {
  const lastSteps = new Map<string, LastStep>()

  async function runScript<T>(steps: Script<T>): Promise<T> {
    let step = steps.next()
    while (!step.done) {
      const { value } = step
      if ("key" in value) {
        const earlier = lastSteps.get(value.key)
        if (earlier) value.takeOver?.(earlier)
        lastSteps.set(value.key, value)
        step = steps.next()
      } else {
        if (value.notice !== undefined) notices.add(value.notice)
        const result = run(value)
        const found = result instanceof Promise ? await result : result
        step = steps.next(value.isRead ? found : undefined)
      }
    }
    return step.value
  }

  return {
    runScript,
    async runLast(): Promise<void> {
      const byKey = [...lastSteps].sort(([left], [right]) => (left < right ? -1 : 1))
      for (const [, step] of byKey) await runScript(step.run())
    },
  }
}
