import timers from "node:timers"
import { reflectApply } from "../primordials.ts"
import { failCurrentRun } from "../runs/failures.ts"

type Callback = (...args: unknown[]) => unknown
type StartTimer = (...args: unknown[]) => unknown

/**
 * Catches errors of timer callbacks inside the callback: Deno reports them after it has ended, when
 * the context no longer shows the run.
 */
export function guardTimers(): void {
  for (const name of ["setTimeout", "setInterval", "setImmediate"] as const) {
    const start = globalThis[name] as unknown as StartTimer
    const guarded: StartTimer = (...args) => {
      if (typeof args[0] === "function") args[0] = guard(args[0] as Callback)
      return reflectApply(start, undefined, args)
    }
    // These include what util.promisify needs.
    Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(start))
    const descriptor = { value: guarded, writable: true, configurable: true, enumerable: true }
    Object.defineProperty(globalThis, name, descriptor)
    Object.defineProperty(timers, name, descriptor)
  }
}

function guard(callback: Callback): Callback {
  return function (this: unknown, ...args) {
    try {
      return reflectApply(callback, this, args)
    } catch (error) {
      failCurrentRun(error)
      return undefined
    }
  }
}
