import { bare, hardenPattern, matchPattern } from "../primordials.ts"
import { currentRun } from "../runs/runs.ts"

const real = {
  list: Deno.env.toObject.bind(Deno.env),
  set: Deno.env.set.bind(Deno.env),
  delete: Deno.env.delete.bind(Deno.env),
}

/**
 * Gives the val its own variables and none of the process. It may change them: that lasts as long
 * as the process, and other runs see it. `process.env` reads and writes through Deno.env. Workers
 * read the environment of the process, so it gets the same variables.
 */
export function setEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(real.list())) if (!isProxy(name)) real.delete(name)
  for (const [name, value] of Object.entries(variables))
    if (!isProxy(name)) ignoreErrors(() => real.set(name, value))
  const view: Record<string, string> = bare({ ...variables })
  Object.assign(Deno.env, {
    get: (name: string) => view[name] ?? findTraceparent(name),
    has: (name: string) => name in view || findTraceparent(name) !== undefined,
    toObject: () => ({ ...view }),
    set(name: string, value: string) {
      // Deno checks the name and the value here.
      if (!isProxy(name)) real.set(name, value)
      view[name] = `${value}`
    },
    delete(name: string) {
      if (!isProxy(name)) ignoreErrors(() => real.delete(name))
      delete view[name]
    },
  })
}

/** The place of the current run in its trace, under the name that programs use for it. */
function findTraceparent(name: string): string | undefined {
  return name === "TRACEPARENT" ? (currentRun()?.traceparent ?? undefined) : undefined
}

/** Deno reads these, so a val has its own, which Deno does not see. */
function isProxy(name: string): boolean {
  return matchPattern(`${name}`, proxyPattern) !== null
}

const proxyPattern = hardenPattern(/^(?:https?|all|no)_proxy$/i)

/** A name that the system rejects, such as one with "=", is still in the view. */
function ignoreErrors(act: () => void): void {
  try {
    act()
  } catch {}
}
